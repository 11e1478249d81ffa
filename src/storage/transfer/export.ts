import { createHash } from 'node:crypto';
import { Digest, type Stated } from './digest.js';
import { FORMAT, FORMAT_VERSION, lineOf, linesOf } from './format.js';
import { type Kind, KINDS } from './records.js';
import type { Tell } from './progress.js';
import type { RecordSource } from './store.js';

/** Number of records by kind. */
export type Counts = Map<Kind, number>;

/** The lines of an export of a whole store. Counts the records in `counts`. */
export async function* exportLines(
  source: RecordSource,
  from: { store: string; schemaVersion: number },
  counts: Counts,
  tell: Tell,
): AsyncGenerator<string> {
  const whole = createHash('sha256');
  const header = {
    format: FORMAT,
    version: FORMAT_VERSION,
    ...from,
    createdAt: new Date().toISOString(),
  } as const;
  const first = lineOf(header);
  whole.update(first);
  yield first;
  const kinds = {} as Record<Kind, Stated>;
  for (const kind of Object.keys(KINDS)) {
    const digest = new Digest();
    for await (const { line, isRecord } of linesOf(source, kind)) {
      digest.add(line, isRecord);
      whole.update(line);
      tell('exported', kind, digest.records);
      yield line;
    }
    tell('exported', kind, digest.records, true);
    kinds[kind] = digest.stated;
    counts.set(kind, digest.records);
  }
  yield lineOf({ kind: 'end', kinds, sha256: whole.digest('hex') });
}
