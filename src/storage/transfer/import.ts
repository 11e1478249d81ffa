import { createHash } from 'node:crypto';
import { DomainError } from '../../common/domain-error.js';
import { Digest, isSameDigest } from './digest.js';
import type { Counts } from './export.js';
import { type BytesLine, FORMAT, FORMAT_VERSION, type Header, isBytesOf, linesOf } from './format.js';
import { type RecordLine, type Trailer } from './format.js';
import { linesIn } from './lines.js';
import type { ReportProgress } from './progress.js';
import { ExportFileError, type Kind, KINDS, TransferError, type WholeBlob } from './records.js';
import { type RecordTarget, writeAll } from './store.js';

type Line = RecordLine | BytesLine | Trailer;

/** Records, or bytes of their lines, per write. */
const [BATCH_RECORDS, BATCH_BYTES] = [500, 1024 * 1024];

const ORDER = Object.keys(KINDS);
const DAMAGED = 'the export is damaged';

/**
 * Fills an empty store with an export and checks it against its trailer, then reads all records back and compares
 * them. TransferError on any difference; the store must be discarded then.
 */
export async function importLines(
  stream: AsyncIterable<Buffer>,
  target: RecordTarget,
  report: ReportProgress,
): Promise<Counts> {
  const digests = await new Import(target, report).from(stream);
  for (const kind of ORDER) await verify(target, kind, digests.get(kind)!, report);
  return new Map(ORDER.map((kind) => [kind, digests.get(kind)!.records]));
}

class Import {
  private readonly digests = new Map<Kind, Digest>(ORDER.map((kind) => [kind, new Digest()]));
  private readonly fileHash = createHash('sha256');
  private lines = 0;
  private kind = ORDER[0]!;
  private batch: object[] = [];
  private batchBytes = 0;
  /** The blob whose bytes are being read. */
  private blob: { record: WholeBlob; chunks: Buffer[]; size: number } | null = null;

  constructor(
    private readonly target: RecordTarget,
    private readonly report: ReportProgress,
  ) {}

  async from(stream: AsyncIterable<Buffer>): Promise<Map<Kind, Digest>> {
    let trailer: Trailer | null = null;
    for await (const bytes of linesIn(stream)) {
      this.lines += 1;
      if (trailer !== null) throw this.fault('there is data after its end');
      const line = this.parsed(bytes);
      if (this.lines === 1) checkHeader(line as unknown as Header);
      else if ('kinds' in line) trailer = line;
      else await this.addLine(line, bytes);
      if (trailer === null) this.fileHash.update(bytes);
    }
    if (this.lines === 0) throw new ExportFileError('The export is empty.');
    if (trailer === null) throw this.fault('it ends before its last line, so it is cut off');
    await this.finishKinds(ORDER.length);
    this.check(trailer);
    return this.digests;
  }

  private async addLine(line: RecordLine | BytesLine, bytes: Buffer): Promise<void> {
    const at = ORDER.indexOf(line.kind);
    if (at < ORDER.indexOf(this.kind)) throw this.fault(`${String(line.kind)} is not expected here`);
    await this.finishKinds(at);
    const isRecord = 'record' in line;
    this.digests.get(this.kind)!.add(bytes, isRecord);
    if (isRecord) await this.addRecord(line.record, bytes.length);
    else await this.addBytes(line.bytes);
  }

  private async addRecord(record: object, size: number): Promise<void> {
    if (this.blob !== null) throw this.fault('bytes of the blob before are missing');
    if (typeof record !== 'object' || record === null) throw this.fault('a record is not an object');
    this.batchBytes += size;
    if (this.kind === 'blobs') {
      this.blob = { record: record as WholeBlob, chunks: [], size: 0 };
      if (this.blob.record.size === 0) await this.addBytes('');
      return;
    }
    this.batch.push(record);
    if (this.batch.length >= BATCH_RECORDS || this.batchBytes >= BATCH_BYTES) await this.write();
  }

  private async addBytes(text: string): Promise<void> {
    const { blob } = this;
    if (blob === null || typeof text !== 'string')
      throw this.fault('there are bytes without a blob before them');
    const chunk = Buffer.from(text, 'base64');
    blob.chunks.push(chunk);
    blob.size += chunk.length;
    if (blob.size < blob.record.size) return;
    const bytes = Buffer.concat(blob.chunks);
    if (!isBytesOf(blob.record, bytes)) throw this.fault('the bytes of a blob do not match its hash');
    this.blob = null;
    this.batch.push({ ...blob.record, read: () => Promise.resolve(bytes) });
    await this.write();
  }

  /** Ends the kinds before the one at this position of the order. */
  private async finishKinds(at: number): Promise<void> {
    if (ORDER.indexOf(this.kind) === at) return;
    if (this.blob !== null) throw this.fault('bytes of the last blob are missing');
    await this.write();
    for (let done = ORDER.indexOf(this.kind); done < at; done += 1)
      this.report('imported', ORDER[done]!, this.digests.get(ORDER[done]!)!.records, true);
    if (at < ORDER.length) this.kind = ORDER[at]!;
  }

  private async write(): Promise<void> {
    const { kind, batch } = this;
    [this.batch, this.batchBytes] = [[], 0];
    if (batch.length === 0) return;
    try {
      await writeAll(this.target, kind, batch);
    } catch (error) {
      if (error instanceof TransferError || (error instanceof DomainError && error.code === 'UNAVAILABLE'))
        throw error;
      throw new TransferError(
        `${KINDS[kind]} before line ${this.lines + 1} cannot be stored: ${(error as Error).message}`,
        { cause: error },
      );
    }
    this.report('imported', kind, this.digests.get(kind)!.records);
  }

  private check({ kinds, sha256 }: Trailer): void {
    for (const kind of ORDER) {
      const [read, exported] = [this.digests.get(kind)!.summary, kinds?.[kind]];
      if (exported === undefined || !isSameDigest(read, exported))
        throw this.fault(
          `${KINDS[kind]} differ from what was exported (${read.records} of ${exported?.records ?? 0} found)`,
        );
    }
    if (this.fileHash.digest('hex') !== sha256) throw this.fault('its lines are not as they were written');
  }

  private parsed(bytes: Buffer): Line {
    try {
      const line = JSON.parse(bytes.toString('utf8')) as Line;
      if (typeof line === 'object' && line !== null) return line;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    throw this.lines === 1 ? noExport() : this.fault('this is not a line of an export');
  }

  private fault(message: string): ExportFileError {
    return new ExportFileError(`Line ${this.lines}: ${message}; ${DAMAGED}`);
  }
}

function checkHeader({ format, version }: Header): void {
  if (format !== FORMAT) throw noExport();
  if (version === FORMAT_VERSION) return;
  throw new ExportFileError(
    `The export is of format version ${String(version)}, and this Patchbay reads version ${FORMAT_VERSION}: ` +
      'import it with a release that reads that version',
  );
}

function noExport(): ExportFileError {
  return new ExportFileError('This is not an export of Patchbay.');
}

async function verify(
  target: RecordTarget,
  kind: Kind,
  imported: Digest,
  report: ReportProgress,
): Promise<void> {
  const digest = new Digest();
  try {
    for await (const { line, isRecord } of linesOf(target, kind)) {
      digest.add(line, isRecord);
      report('verified', kind, digest.records);
    }
  } catch (error) {
    if (error instanceof DomainError) throw error;
    const message = `${KINDS[kind]}: what was stored cannot be read back: ${(error as Error).message}`;
    throw new TransferError(message, { cause: error });
  }
  if (!isSameDigest(digest.summary, imported.summary))
    throw new TransferError(
      `${KINDS[kind]}: ${imported.records} were imported, ${digest.records} read back, and they are not the same`,
    );
  report('verified', kind, digest.records, true);
}
