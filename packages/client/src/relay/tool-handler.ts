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

/** Limit of a note in characters, as on the server. */
export const MAX_NOTE = 4096;

/** How a call ended. A denial has `result: null` and `approval.decision: 'deny'`. */
export interface ToolOutcome {
  /** Fits the tool's responseSchema. A failure is a result too, usually with `success: false`. */
  result: Json;
  approval?: Approval | null;
  /** Milliseconds; by default measured from `start`, or else from the delivery. */
  executionMs?: number | null;
}

/** What a handler can use while it works on a call. */
export interface CallContext {
  /**
   * Aborted when the call has ended on the server (cancelled, timed out) or the client closes. If nothing has changed
   * yet, stop by throwing its reason; otherwise finish: the result is then recorded as late.
   */
  readonly signal: AbortSignal;
  /**
   * Tells the server that a person is being asked, with a `note` of at most MAX_NOTE characters. Does not wait for
   * the answer.
   */
  awaitApproval(note?: string): Promise<void>;
  /**
   * Call it before the first effect, with the person's decision. It waits until the server has confirmed that the
   * call still belongs to this client, over any number of connections. After it, a client that dies does not run the
   * call again. Throws if the call has ended or belongs to another client. `recover` gets `basis` back, such as the
   * sha256 of the file that the person saw, and the approval.
   */
  start(approval?: Approval | null, basis?: Json): Promise<void>;
  /** Where an executor that writes files records its intents. */
  readonly writeLog: WriteLog;
  /**
   * Uploads a file that the call has changed, until the server answers, for at most `timeoutMs` (30 s); then the
   * answer is UNAVAILABLE. Rejects only when the client closes: let that through, and the call continues at the next
   * start.
   */
  putFile(file: FilePut, timeoutMs?: number): Promise<Ack<FilePutAnswer>>;
}

/**
 * Executes one call. An error (other than the signal's reason) ends the call: see `ReportFailure`.
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

/** What a handler can use while it settles a call. */
export interface SettleContext {
  /** Where an executor records its steps when it has to finish or roll back its work. */
  readonly writeLog: WriteLog;
  /** The call has this result. Durable when it resolves: remove the evidence only then. */
  readonly ended: (result: Json) => Promise<void>;
  /** Nothing happened, and the call may run. Durable when it resolves. */
  readonly notRun: () => Promise<void>;
}

/**
 * Determines the outcome of a call that was running when the client died, before the client connects again, and
 * reports it by `ended` or `notRun`. After another crash it is asked again: `interrupted.settled` then has the
 * earlier result.
 */
export type SettleTool = (
  call: ToolCallDelivery,
  context: SettleContext,
  interrupted: JournalEntry,
) => Promise<void>;

/**
 * Continues, once connected, a call that was running when the client died. A settled result is reported even if the
 * call has ended meanwhile, and is then recorded as late. Other calls come here only if the server still wants them:
 * run one again only if it is certain that nothing happened.
 */
export type RecoverTool = (
  call: ToolCallDelivery,
  context: CallContext,
  interrupted: JournalEntry,
) => Promise<ToolOutcome>;

/**
 * The result, in the tool's own shape, of a call whose `run` or `recover` threw. Without it the call is denied with
 * the error as its note: only a denial fits the responseSchema of every tool.
 */
export type ReportFailure = (call: ToolCallDelivery, failed: JournalEntry) => Json;

/** A function is enough. Without `recover`, an interrupted call ends like one that threw and is never run again. */
export type ToolHandler =
  RunTool | { run: RunTool; settle?: SettleTool; recover: RecoverTool; reportFailure?: ReportFailure };

/** The tools that a client executes, by catalog name. */
export type ToolHandlers = { readonly [toolName: string]: ToolHandler };

/** The handler of a tool; undefined if the client has none. */
export function handlerOf(tools: ToolHandlers, toolName: string): ToolHandler | undefined {
  return Object.hasOwn(tools, toolName) ? tools[toolName] : undefined;
}

/** The approval of a call that the client, not a person, gave up. `result` is null with a denial, which fits every tool. */
export function deniedByClient(reason: string): Approval {
  const note = cutText(reason, MAX_NOTE);
  return { decision: 'deny', by: 'client', at: new Date().toISOString(), note };
}
