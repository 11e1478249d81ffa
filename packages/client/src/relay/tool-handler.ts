import {
  type Ack,
  type Approval,
  cutText,
  type FilePut,
  type FilePutAnswer,
  type Json,
  type ToolCallDelivery,
} from '@patchbay/protocol';
import type { JournalEntry } from '../journal/journal-lines.js';
import type { WriteLog } from '../journal/write-log.js';

/** Most characters of a note: the server takes no longer one. */
export const MAX_NOTE = 4096;

/** How a call ended. A denial has `result: null` and `approval.decision: 'deny'`. */
export interface ToolOutcome {
  /** Fits the tool's responseSchema; a failure is a result too, usually with `success: false`. */
  result: Json;
  approval?: Approval | null;
  /** Milliseconds; measured from `start` (else from the beginning) where it is left out. */
  executionMs?: number | null;
}

/** What a handler can ask of the client while it works on a call. */
export interface CallContext {
  /**
   * Aborted when the call has ended on the server (cancelled, timed out) or the client closes. Stop, by throwing
   * its reason, if nothing has been changed yet; finish otherwise: the result is then recorded as late.
   */
  readonly signal: AbortSignal;
  /** Tells the server that a person is being asked, with a `note` of at most MAX_NOTE characters. Does not wait for its answer. */
  awaitApproval(note?: string): Promise<void>;
  /**
   * Call it before the first effect, with what the person decided. It waits until the server has confirmed that the call
   * is still this client's, over as many connections as that takes. After it, a client that dies does not run the call
   * again. Throws if the call has ended meanwhile, or is another client's. `basis`, such as the sha256 of the file that the
   * person saw, is given back to `recover`, as the approval is.
   */
  start(approval?: Approval | null, basis?: Json): Promise<void>;
  /** Where an executor that writes files leaves its intent. */
  readonly writeLog: WriteLog;
  /**
   * Sends a file that the call has changed back to the server, until it answers; for `timeoutMs` (30 s) at most, then the
   * answer is UNAVAILABLE. Rejects only when the client closes: let that through, the call then goes on at the next start.
   */
  putFile(file: FilePut, timeoutMs?: number): Promise<Ack<FilePutAnswer>>;
}

/**
 * Executes one call. What it throws (other than the signal's reason) ends the call: see `ReportFailure`.
 *
 * ```ts
 * const createFile: RunTool = async (call, context) => {
 *   await context.awaitApproval();
 *   const approval = await ask(call.arguments, context.signal);
 *   if (approval.decision === 'deny') return { result: null, approval };
 *   await context.start(approval);
 *   return { result: await create(approval.editedArguments ?? call.arguments), approval };
 * };
 * ```
 */
export type RunTool = (call: ToolCallDelivery, context: CallContext) => Promise<ToolOutcome>;

/** What a handler can ask of the client while it settles a call. */
export interface SettleContext {
  /** Where an executor that has to finish or take back what it began notes its steps. */
  readonly writeLog: WriteLog;
  /** The call has come to this result. Durable when it resolves: only then remove what shows it. */
  readonly ended: (result: Json) => Promise<void>;
  /** Nothing happened, and nothing stands in the way. Durable when it resolves. */
  readonly notRun: () => Promise<void>;
}

/**
 * Finds out what became of a call that had started when the client died, before the client connects again, and says so
 * by `ended` or `notRun`. Asked again where the client died once more: `interrupted.settled` then has what was said.
 */
export type SettleTool = (
  call: ToolCallDelivery,
  context: SettleContext,
  interrupted: JournalEntry,
) => Promise<void>;

/**
 * Goes on, once there is a connection, with a call that had started when the client died. What was settled as ended is
 * reported, also where the call has ended meanwhile: it is then recorded as late. Anything else comes here only if the
 * server still wants it: it is run again if it is certain that nothing happened.
 */
export type RecoverTool = (
  call: ToolCallDelivery,
  context: CallContext,
  interrupted: JournalEntry,
) => Promise<ToolOutcome>;

/**
 * The result, in the tool's own shape, of a call whose `run` or `recover` threw. Without it the call is denied, with the
 * error as its note: nothing else fits the responseSchema of every tool.
 */
export type ReportFailure = (call: ToolCallDelivery, failed: JournalEntry) => Json;

/** A function is enough; without `recover` an interrupted call is ended as one that threw, never run again. */
export type ToolHandler =
  RunTool | { run: RunTool; settle?: SettleTool; recover: RecoverTool; reportFailure?: ReportFailure };

/** The tools that a client executes, by catalog name. */
export type ToolHandlers = { readonly [toolName: string]: ToolHandler };

/** The handler of a tool; undefined where the client has none. */
export function handlerOf(tools: ToolHandlers, toolName: string): ToolHandler | undefined {
  return Object.hasOwn(tools, toolName) ? tools[toolName] : undefined;
}

/** For a call that the client, not a person, gave up. With a denial, `result` is null: that fits every tool. */
export function deniedByClient(reason: string): Approval {
  const note = cutText(reason, MAX_NOTE);
  return { decision: 'deny', by: 'client', at: new Date().toISOString(), note };
}
