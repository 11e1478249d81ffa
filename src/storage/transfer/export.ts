import { createHash } from 'node:crypto';
import { Digest, type DigestSummary } from './digest.js';
import { FORMAT, FORMAT_VERSION, lineOf, linesOf } from './format.js';
import { type Kind, KINDS } from './records.js';
import type { ReportProgress } from './progress.js';
import type { RecordSource } from './store.js';

/** Number of records by kind. */
export type Counts = Map<Kind, number>;

/** The lines of an export of a whole store. Counts the records in `counts`. */
export async function* exportLines(
  source: RecordSource,
  from: { store: string; schemaVersion: number },
  counts: Counts,
  report: ReportProgress,
): AsyncGenerator<string> {
  const fileHash = createHash('sha256');
  const header = {
    format: FORMAT,
    version: FORMAT_VERSION,
    ...from,
    createdAt: new Date().toISOString(),
  } as const;
  const first = lineOf(header);
  fileHash.update(first);
  yield first;
  const kinds = {} as Record<Kind, DigestSummary>;
  for (const kind of Object.keys(KINDS)) {
    const digest = new Digest();
    for await (const { line, isRecord } of linesOf(source, kind)) {
      digest.add(line, isRecord);
      fileHash.update(line);
      report('exported', kind, digest.records);
      yield line;
    }
    report('exported', kind, digest.records, true);
    kinds[kind] = digest.summary;
    counts.set(kind, digest.records);
  }
  yield lineOf({ kind: 'end', kinds, sha256: fileHash.digest('hex') });
}
