import type { ToolCallDelivery } from '@patchbay/protocol';
import type { CallContext, ToolHandler, ToolHandlers, ToolOutcome } from '@patchbay/client/relay';
import type { FileProposal, Question } from '@patchbay/workspace';
import type { Marks } from './approval/marks.js';
import { printableLine } from './approval/printable.js';
import { callText, outcomeLines } from './outcome-text.js';

/** So long, in ms, a call may run before it is said that it does. */
const RUNNING_MS = 1_000;

/** What the news of calls go to. */
export interface CallAudience {
  readonly marks: Marks;
  say(line: string): void;
  /** Whether there is a connection; without one what was allowed waits. */
  readonly isConnected: boolean;
  /** The person is leaving: what ends by that is no news. */
  readonly isLeaving: boolean;
}

/** Tells a person what becomes of each call after it was decided. */
export class CallNews {
  /** What was decided about, by callId: as it was shown last, an edit included. */
  private readonly decided = new Map<string, readonly FileProposal[]>();
  private readonly allowed = new Map<string, string>();
  private readonly running = new Map<string, string>();

  constructor(private readonly audience: CallAudience) {}

  /** Calls that were allowed, and wait for the server's word to begin; in words. */
  get kept(): readonly string[] {
    return [...this.allowed.values()];
  }

  /** Calls that have begun and not ended, in words. */
  get begun(): readonly string[] {
    return [...this.running.values()];
  }

  remember({ call }: Question, files: readonly FileProposal[]): void {
    if ('callId' in call) this.decided.set(call.callId as string, files);
  }

  /** The same handlers, each of whose calls is followed to its end. */
  follow(tools: ToolHandlers): ToolHandlers {
    return Object.fromEntries(Object.entries(tools).map(([name, handler]) => [name, this.followed(handler)]));
  }

  private followed(handler: ToolHandler): ToolHandler {
    if (typeof handler === 'function') {
      return (call, context) => this.tell(call, context, (followed) => handler(call, followed));
    }
    return {
      run: (call, context) => this.tell(call, context, (followed) => handler.run(call, followed)),
      recover: (call, context, interrupted) =>
        this.tell(call, context, (followed) => handler.recover(call, followed, interrupted)),
      ...(handler.settle && { settle: handler.settle.bind(handler) }),
      ...(handler.reportFailure && { reportFailure: handler.reportFailure.bind(handler) }),
    };
  }

  private async tell(
    call: ToolCallDelivery,
    context: CallContext,
    work: (context: CallContext) => Promise<ToolOutcome>,
  ): Promise<ToolOutcome> {
    const { callId } = call;
    const { audience } = this;
    let slow: NodeJS.Timeout | undefined;
    const start: CallContext['start'] = async (...decided) => {
      const words = callText(call, this.decided.get(callId));
      const sayRunning = () => audience.say(`${audience.marks.running} running: ${words}`);
      if (audience.isConnected) slow = setTimeout(sayRunning, RUNNING_MS);
      else audience.say(`${audience.marks.running} kept until the server is back: ${words}`);
      this.allowed.set(callId, words);
      await context.start(...decided);
      this.allowed.delete(callId);
      this.running.set(callId, words);
    };
    try {
      const outcome = await work({ ...context, start });
      const files = this.decided.get(callId) ?? null;
      for (const line of outcomeLines(call, outcome, files, audience.marks)) audience.say(line);
      return outcome;
    } catch (error) {
      this.tellEnd(call, context.signal);
      throw error;
    } finally {
      clearTimeout(slow);
      this.allowed.delete(callId);
      this.running.delete(callId);
      this.decided.delete(callId);
    }
  }

  /** Other faults are told by the client itself. */
  private tellEnd(call: ToolCallDelivery, { aborted, reason }: AbortSignal): void {
    const { audience } = this;
    if (!aborted || audience.isLeaving) return;
    const why =
      reason instanceof Error && reason.message ? printableLine(reason.message) : 'The call has ended.';
    audience.say(
      `${audience.marks.refused} ${callText(call, this.decided.get(call.callId))}: ${why} Nothing is written.`,
    );
  }
}
