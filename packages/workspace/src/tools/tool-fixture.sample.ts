import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Ack, Approval, FilePut, FilePutAnswer, Json, ToolCallDelivery } from '@patchbay/protocol';
import { Ajv, type ValidateFunction } from 'ajv';
import { openDiskJournal } from '@patchbay/client/home';
import type { Journal, CallContext, ToolOutcome } from '@patchbay/client/relay';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import type { ApprovalRequest, Approver } from '../approval/approver.js';
import type { OpenBuffers } from '../write-patch/open-buffers.js';
import type { CreateFileTool } from './create-file-tool.js';
import type { WritePatchTool } from './write-patch-tool.js';

/* A tool between a user, a folder and the uploads, for tests; not part of the build. */

export const at = new Date().toISOString();
export const allow: Approval = { decision: 'allow', by: 'ada', at };

export const deliveryOf = (
  callId: string,
  call: Pick<ToolCallDelivery, 'name' | 'arguments' | 'batch'>,
): ToolCallDelivery => ({
  ...{ callId, attempt: 1, toolCallId: `tool-${callId}`, sessionId: 's', conversationId: 'c', turnId: 't' },
  deadlines: { deliveryAt: null, approvalAt: null, executionAt: null },
  ...call,
});

/** Answers as a test sets it, and records the questions. */
export class Person implements Approver {
  readonly asked: ApprovalRequest[] = [];
  answer: (request: ApprovalRequest, signal: AbortSignal) => Partial<Approval> | Promise<Partial<Approval>> =
    () => ({});

  async decide(request: ApprovalRequest, signal: AbortSignal): Promise<Approval> {
    this.asked.push(request);
    return { ...allow, ...(await this.answer(request, signal)) };
  }
}

/** A connected folder, the journal of its client, and a tool. */
export abstract class ToolFixture {
  folder!: string;
  /** The docPath of the folder. */
  root!: string;
  roots!: WorkspaceRoots;
  journal!: Journal;
  person!: Person;
  uploads!: FilePut[];
  answerPut!: (file: FilePut) => Ack<FilePutAnswer> | Promise<Ack<FilePutAnswer>>;
  /** Runs after the decision and before the server confirms the start. */
  onStart!: () => void | Promise<void>;
  private home!: string;
  private readonly isValid: ValidateFunction;

  constructor(responseSchema: object) {
    this.isValid = new Ajv({ allowUnionTypes: true }).compile(responseSchema);
  }

  async open(): Promise<void> {
    this.folder = await mkdtemp(join(tmpdir(), 'Patchbay-Tool-'));
    this.root = basename(this.folder).toLowerCase();
    this.home = await mkdtemp(join(tmpdir(), 'patchbay-tool-home-'));
    this.roots = await WorkspaceRoots.open([{ directory: this.folder }]);
    this.journal = await openDiskJournal(this.home);
    [this.person, this.uploads] = [new Person(), []];
    this.answerPut = ({ docPath }) => ({
      ...{ ok: true, versionId: `v-${docPath.at(-1)}`, fileId: 'f', path: '/p/f' },
    });
    this.onStart = () => undefined;
  }

  async close(): Promise<void> {
    await this.journal.close();
    await rm(this.folder, { recursive: true });
    await rm(this.home, { recursive: true });
  }

  abstract readonly tool: (buffers?: OpenBuffers) => CreateFileTool | WritePatchTool;

  readonly read = (path: string) => readFile(join(this.folder, path), 'utf8');
  readonly write = (path: string, text: string) => writeFile(join(this.folder, path), text);

  readonly contextOf = (callId: string, signal: AbortSignal = new AbortController().signal): CallContext => ({
    signal,
    writeLog: this.journal.writeLog(callId),
    awaitApproval: () => this.journal.awaitApproval(callId),
    start: async (approval = null, basis = null) => {
      await this.onStart();
      await this.journal.start(callId, approval, basis);
    },
    putFile: async (file) => (this.uploads.push(file), this.answerPut(file)),
  });

  readonly run = async (
    call: ToolCallDelivery,
    handler = this.tool(),
    signal?: AbortSignal,
  ): Promise<ToolOutcome> => {
    await this.journal.receive(call);
    return this.checked(await handler.run(call, this.contextOf(call.callId, signal)));
  };

  /** Reopens the journal, as a restarted client does. */
  readonly reopen = async (): Promise<void> => {
    await this.journal.close();
    this.journal = await openDiskJournal(this.home);
  };

  /** Restarts the client, which settles call 1 before it connects. */
  readonly restart = async (): Promise<void> => {
    await this.reopen();
    const entry = this.journal.get('1')!;
    const ended = (result: Json) => this.journal.settle('1', result);
    const notRun = () => this.journal.rollBack('1');
    await this.tool().settle(entry.call!, { writeLog: this.journal.writeLog('1'), ended, notRun }, entry);
  };

  /** Continues call 1 once the client has connected. */
  readonly recover = async (): Promise<ToolOutcome> => {
    const entry = this.journal.get('1')!;
    return this.checked(await this.tool().recover(entry.call!, this.contextOf('1'), entry));
  };

  /** The result of a call that fails unexpectedly, before or after its start. */
  readonly failureOf = async (call: ToolCallDelivery, approval: Approval | null): Promise<Json> => {
    await this.journal.receive(call);
    if (approval) await this.journal.start(call.callId, approval);
    const result = this.tool().reportFailure(call, this.journal.get(call.callId)!);
    this.checked({ result });
    return result;
  };

  readonly checked = (outcome: ToolOutcome): ToolOutcome => {
    if (outcome.result !== null)
      expect([this.isValid(outcome.result), this.isValid.errors]).toEqual([true, null]);
    return outcome;
  };
}
