import { Injectable } from '@nestjs/common';
import {
  type ActiveFile,
  type CallErrorCode,
  type FilePatch,
  type Json,
  type JsonObject,
  lossIn,
  type PatchBatch,
  type PatchFault,
  type PatchFaults,
  shortText,
  type ToolCallError,
} from '@patchbay/protocol';
import {
  FaultList,
  MAX_REPORTED_FAULTS,
  type ParsedBatch,
  parsePatchBatchInSteps,
} from '@patchbay/protocol/line-patch';
import type { UserFolders } from '../clients/user-folders.js';
import { Clock } from '../common/clock.js';
import type { DomainError } from '../common/domain-error.js';
import { newId } from '../common/ids.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { Config } from '../config/config.js';
import type { PatchBase, PatchBatchRecord } from '../storage/ports/patches.store.js';
import type { SessionRecord } from '../storage/records/sessions.js';
import { UserJobs } from '../jobs/user-jobs.js';
import { WorkPool } from '../jobs/work-pool.js';
import { BaseTexts } from './base-texts.js';
import { ClientTexts } from './client-texts.js';
import { type CloudHead, CloudTexts } from './cloud-texts.js';
import { INSPECT_PATCHES, type IndexedPatch, type Inspection, loadOf } from './patch-jobs.js';

/** The call whose arguments are the batch. */
export interface PatchOrigin {
  session: SessionRecord;
  turnId: string;
  callId: string;
  /** The batch that is reverted; the server's own inverse may set endings. */
  revertOf: string | null;
  /** The folders of the session's user. */
  folders: UserFolders;
}

/** Result of preparing a batch. `record` is null if the batch is structurally invalid. */
export interface PreparedBatch {
  record: PatchBatchRecord | null;
  error: ToolCallError | null;
}

/** A file of a batch that the server checks against its own base text. */
interface JudgedFile extends IndexedPatch {
  /** sha256 of the Active file or of the Cloud head. */
  currentSha256: string;
  source: Inspection['source'];
}

/** What is known of a batch's files before any text is read. */
interface Situation {
  /** For each file, in batch order. */
  bases: (PatchBase | null)[];
  /** Files that are checked against a text of the server. */
  judged: JudgedFile[];
  /** Bytes of their texts. */
  sizeBytes: number;
}

/** Characters of a name that a fault repeats. */
const MAX_NAME = 64;

/** How long clients are asked about the files of one batch, ms. */
const MAX_ASKING_MS = 5_000;

/** Validates a batch, assigns its ids, and checks it against the server's state [PATCH-1] [PATCH-2] [PATCH-3]. */
@Injectable()
export class PatchPreparation {
  constructor(
    private readonly texts: CloudTexts,
    private readonly baseTexts: BaseTexts,
    private readonly clients: ClientTexts,
    private readonly pool: WorkPool,
    private readonly jobs: UserJobs,
    private readonly config: Config,
    private readonly clock: Clock,
  ) {}

  async prepare(args: Json, origin: PatchOrigin): Promise<PreparedBatch> {
    const repeated = repeatedNamesIn(args);
    if (repeated.faults.length > 0) return { record: null, error: batchError(repeated) };
    const parsed = await this.parse(args, origin.revertOf !== null);
    if (!parsed.ok) return { record: null, error: batchError(parsed) };
    await yieldIfBusy();
    const { session, turnId, callId, revertOf } = origin;
    const batch = withIds(parsed.batch);
    const situation = await this.situationOf(batch, origin);
    const record: PatchBatchRecord = {
      ...{ batchId: batch.batchId!, workspaceId: session.workspaceId, sessionId: session.id, turnId, callId },
      ...{ userId: session.userId, createdAt: this.clock.now(), revertOf, batch, bases: situation.bases },
    };
    const faults = await this.faultsOf(session, situation);
    return { record, error: faults.faults.length > 0 ? batchError(faults) : null };
  }

  /** Runs here, not on a worker: copying the batch to a worker and back takes as long. */
  private async parse(args: Json, trusted: boolean): Promise<ParsedBatch> {
    const { maxPatchFiles: maxFiles, maxPatchChanges: maxChanges } = this.config;
    const steps = parsePatchBatchInSteps(args, { trusted, maxFiles, maxChanges });
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      await yieldIfBusy();
    }
  }

  private async situationOf(batch: PatchBatch, { session, folders }: PatchOrigin): Promise<Situation> {
    const active = await this.texts.activeFiles(session);
    const situation: Situation = { bases: [], judged: [], sizeBytes: 0 };
    for (const [fileIndex, patch] of batch.files.entries()) {
      await yieldIfBusy();
      const head = await this.texts.head(session.workspaceId, patch.docPath);
      const known = knownOf(head, active.get(patch.docPath), patch, folders);
      const isForClient = known !== null && clientDecides(patch, known, folders);
      // The folder's content is the base: a head that the folder does not have stays as it is.
      situation.bases.push(isForClient ? { versionId: null, sha256: patch.originalSha256 } : baseOf(head));
      situation.sizeBytes += head?.sizeBytes ?? 0;
      if (known !== null && !isForClient) situation.judged.push({ patch, fileIndex, ...known });
    }
    return situation;
  }

  private async faultsOf(session: SessionRecord, { judged, sizeBytes }: Situation): Promise<PatchFaults> {
    if (sizeBytes > this.config.maxPatchBytes) return tooLarge(this.baseTexts.tooMuch(sizeBytes));
    return this.jobs.runOn(sizeBytes, session.userId, () => this.inspectAll(session, judged));
  }

  private async inspectAll(session: SessionRecord, judged: readonly JudgedFile[]): Promise<PatchFaults> {
    const found = new FirstFaults();
    const ofCloud = judged.filter(({ source }) => source === 'Cloud file');
    const wanted = ofCloud.map((item) => ({ sha256: item.currentSha256, item }));
    for await (const { bytes, items } of this.baseTexts.each(session.workspaceId, wanted)) {
      const { currentSha256, source } = items[0]!;
      found.add(await this.inspect(session, { bytes, currentSha256, source, patches: items }));
    }
    const deadline = this.clock.now() + MAX_ASKING_MS;
    for (const file of judged) {
      if (file.source !== 'Active file') continue;
      const mayAsk = this.clock.now() < deadline;
      found.add(await this.inspect(session, await this.heldByClient(session, file, mayAsk)));
    }
    return found.result();
  }

  private inspect(session: SessionRecord, { patches, ...text }: Inspection): Promise<PatchFaults> {
    const indexed = patches.map(({ patch, fileIndex }) => ({ patch, fileIndex }));
    const load = loadOf(
      text.bytes,
      indexed.map(({ patch }) => patch),
    );
    return this.pool.run(session.userId, INSPECT_PATCHES, { ...text, patches: indexed }, load);
  }

  /** What the client holds, if the patch is based on it [PATCH-12]; else the recorded Active file. */
  private async heldByClient(
    session: SessionRecord,
    { patch, fileIndex, currentSha256, source }: JudgedFile,
    mayAsk: boolean,
  ): Promise<Inspection> {
    const { docPath, originalSha256 } = patch;
    const known: Inspection = { bytes: null, currentSha256, source, patches: [{ patch, fileIndex }] };
    if (!mayAsk || currentSha256 === originalSha256) return known;
    const bytes = await this.clients.held(session, docPath, originalSha256, currentSha256);
    return bytes === null ? known : { ...known, currentSha256: originalSha256, bytes };
  }
}

type Known = Pick<JudgedFile, 'currentSha256' | 'source'>;

/**
 * The Active file, else the Cloud file [PATCH-8]; null if neither is known. A clean buffer in a connected folder is
 * read from disk, which may differ from its editor [PATCH-12].
 */
function knownOf(
  head: CloudHead | null,
  active: ActiveFile | undefined,
  { docPath, originalSha256 }: FilePatch,
  folders: UserFolders,
): Known | null {
  const diskDecides =
    active?.isDirty === false && active.sha256 !== originalSha256 && folders.isConnected(docPath);
  if (active && !diskDecides) return { currentSha256: active.sha256, source: 'Active file' };
  return head && { currentSha256: head.sha256, source: 'Cloud file' };
}

function baseOf(head: CloudHead | null): PatchBase | null {
  return head && { versionId: head.versionId, sha256: head.sha256 };
}

/**
 * In a connected folder the disk counts and may be ahead of the Cloud: only the client can tell whether another sha256
 * is stale.
 */
function clientDecides(
  { docPath, originalSha256 }: FilePatch,
  { currentSha256, source }: Known,
  folders: UserFolders,
): boolean {
  return source === 'Cloud file' && currentSha256 !== originalSha256 && folders.isConnected(docPath);
}

/** The first faults of a batch in the order of its files, whatever the order of the checks. */
class FirstFaults {
  private shown: PatchFault[] = [];
  private total = 0;

  add({ faults, moreFaults }: PatchFaults): void {
    this.total += faults.length + moreFaults;
    if (faults.length === 0) return;
    const all = [...this.shown, ...faults].sort((a, b) => (a.fileIndex ?? -1) - (b.fileIndex ?? -1));
    this.shown = all.slice(0, MAX_REPORTED_FAULTS);
  }

  result(): PatchFaults {
    const list = new FaultList();
    list.append({ faults: this.shown, moreFaults: this.total - this.shown.length });
    return list.result();
  }
}

function tooLarge({ message }: DomainError): PatchFaults {
  const list = new FaultList();
  list.add({}, 'TOO_LARGE', () => `${message} Split the batch.`);
  return list.result();
}

function withIds(batch: PatchBatch): PatchBatch {
  return {
    ...batch,
    batchId: newId(),
    files: batch.files.map((file) => ({
      ...file,
      filePatchId: newId(),
      changes: file.changes.map((change) => ({ ...change, changeId: newId() })),
    })),
  };
}

/** The error of an invalid batch: all faults, and the kind of mistake. */
/** Faults of a batch with a duplicate name in an object, since the intended member is unknown. */
function repeatedNamesIn(args: Json): PatchFaults {
  const found = new FaultList();
  for (const name of typeof args === 'object' && args !== null ? Object.keys(args) : []) {
    const loss = lossIn(args as JsonObject, name, 'name');
    if (loss !== null) found.add({}, 'SCHEMA', () => `${shortText(name, MAX_NAME)} holds ${loss}`);
  }
  return found.result();
}

function batchError({ faults, moreFaults }: PatchFaults): ToolCallError {
  const codes = new Set(faults.map((fault) => fault.code));
  const code: CallErrorCode = codes.has('STALE')
    ? 'STALE'
    : codes.size === 1 && codes.has('LINES_MISMATCH')
      ? 'LINES_MISMATCH'
      : 'INVALID_ARGUMENTS';
  const count = faults.length + moreFaults;
  const message =
    count === 1 ? faults[0]!.message : `The batch has ${count} faults, the first: ${faults[0]!.message}`;
  return { code, message, details: { faults: faults as unknown as Json, moreFaults } };
}
