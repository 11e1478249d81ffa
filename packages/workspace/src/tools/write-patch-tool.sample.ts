import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import {
  writePatch,
  type Ack,
  type Approval,
  type FilePut,
  type FilePutAnswer,
  type PatchBatch,
  type ToolCallDelivery,
  type WritePatchResult,
} from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { parsePatchBatch } from '@patchbay/protocol/line-patch';
import { Ajv } from 'ajv';
import { openDiskJournal } from '@patchbay/client/home';
import type { Journal, CallContext, ToolOutcome } from '@patchbay/client/relay';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import type { OpenBuffers } from '../write-patch/open-buffers.js';
import { type ApprovalRequest, type Approver } from '../approval/approver.js';
import { WritePatchTool, type WritePatchExecuted } from './write-patch-tool.js';

/* The tool between a person, a folder and the uploads, for tests; no part of the build. */

export const at = new Date().toISOString();
export const isValidResult = new Ajv({ allowUnionTypes: true }).compile(writePatch.responseSchema);
export const insert = (afterLine: number, line: string) => ({
  operation: 'insert',
  afterLine,
  newLines: [line],
});

export function batchOf(files: { docPath: string; original: string; changes: object[] }[]): PatchBatch {
  const input = files.map(({ docPath, original, changes }, file) => ({
    filePatchId: `f${file}`,
    docPath,
    originalSha256: sha256(original),
    fileLabel: `Why ${docPath}`,
    changes: changes.map((change, index) => ({ changeId: `f${file}c${index}`, ...change })),
  }));
  const parsed = parsePatchBatch({ batchId: 'b', files: input }, { trusted: true });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  return parsed.batch;
}

export const callOf = (callId: string, batch: PatchBatch | null): ToolCallDelivery => ({
  callId,
  attempt: 1,
  toolCallId: `tool-${callId}`,
  sessionId: 's',
  conversationId: 'c',
  turnId: 't',
  name: 'workspace_write_patch',
  arguments: {},
  deadlines: { deliveryAt: null, approvalAt: null, executionAt: null },
  batch,
});

/** Answers as a test tells it to, and remembers what it was asked. */
export class Person implements Approver {
  readonly asked: ApprovalRequest[] = [];
  answer: (request: ApprovalRequest, signal: AbortSignal) => Partial<Approval> | Promise<Approval> =
    () => ({});

  async decide(request: ApprovalRequest, signal: AbortSignal): Promise<Approval> {
    this.asked.push(request);
    return { decision: 'allow', by: 'ada', at, ...(await this.answer(request, signal)) };
  }
}

export const resultOf = (outcome: ToolOutcome) => outcome.result as unknown as WritePatchResult;
export const untouched = ['a\n', 'b\n'];

/** A connected folder with the files Src/A and b, and the tool that patches them. */
export class ToolScene {
  folder!: string;
  home!: string;
  root!: string;
  journal!: Journal;
  person!: Person;
  executed!: WritePatchExecuted[];
  uploads!: FilePut[];
  answerPut!: (file: FilePut) => Ack<FilePutAnswer> | Promise<Ack<FilePutAnswer>>;
  private roots!: WorkspaceRoots;

  async open(): Promise<void> {
    this.folder = await mkdtemp(join(tmpdir(), 'Patchbay-Tool-'));
    this.root = basename(this.folder).toLowerCase();
    this.home = await mkdtemp(join(tmpdir(), 'patchbay-tool-home-'));
    this.roots = await WorkspaceRoots.open([{ directory: this.folder }]);
    this.journal = await openDiskJournal(this.home);
    this.person = new Person();
    this.executed = [];
    this.uploads = [];
    this.answerPut = ({ docPath }) => ({
      ok: true,
      versionId: `v-${docPath.at(-1)}`,
      fileId: 'f',
      path: '/p/f',
    });
    await mkdir(join(this.folder, 'Src'));
    await writeFile(join(this.folder, 'Src', 'A'), 'a\n');
    await writeFile(join(this.folder, 'b'), 'b\n');
  }

  async close(): Promise<void> {
    await this.journal.close();
    await rm(this.folder, { recursive: true });
    await rm(this.home, { recursive: true });
  }

  readonly two = () =>
    batchOf([
      { docPath: `${this.root}/src/a`, original: 'a\n', changes: [insert(0, 'top'), insert(1, 'end')] },
      { docPath: `${this.root}/b`, original: 'b\n', changes: [insert(1, 'new')] },
    ]);
  readonly contextOf = (callId: string, signal: AbortSignal): CallContext => ({
    signal,
    writeLog: this.journal.writeLog(callId),
    awaitApproval: () => this.journal.awaitApproval(callId),
    start: (approval = null) => this.journal.start(callId, approval),
    putFile: async (file) => (this.uploads.push(file), this.answerPut(file)),
  });
  readonly tool = (buffers?: OpenBuffers) =>
    new WritePatchTool({ roots: this.roots, ...(buffers && { buffers }) }, this.person, (line) =>
      this.executed.push(line),
    );
  readonly run = async (
    call: ToolCallDelivery,
    handler = this.tool(),
    signal: AbortSignal = new AbortController().signal,
  ) => {
    await this.journal.receive(call);
    const outcome = await handler.run(call, this.contextOf(call.callId, signal));
    if (outcome.result !== null)
      expect([isValidResult(outcome.result), isValidResult.errors]).toEqual([true, null]);
    return outcome;
  };

  readonly onDisk = async () => [
    await readFile(join(this.folder, 'Src', 'A'), 'utf8'),
    await readFile(join(this.folder, 'b'), 'utf8'),
  ];
}
