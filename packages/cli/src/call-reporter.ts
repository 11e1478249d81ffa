import type { ToolCallDelivery } from '@patchbay/protocol';
import type { CallContext, ToolHandler, ToolHandlers, ToolOutcome } from '@patchbay/client/relay';
import type { FileProposal, Question } from '@patchbay/workspace';
import type { Marks } from './approval/marks.js';
import { printableLine } from './approval/printable.js';
import { callText, outcomeLines } from './outcome-text.js';

/** A running call is reported after this time, in ms. */
const RUNNING_MS = 1_000;

/** Receives the reports on calls. */
export interface CallOutput {
  readonly marks: Marks;
  say(line: string): void;
  /** False without a connection: allowed calls then wait. */
  readonly isConnected: boolean;
  /** The person is leaving: calls that this ends are not reported. */
  readonly isLeaving: boolean;
}

/** Reports what happens to each call after its decision. */
export class CallReporter {
  /** The decided files by callId, as shown last, edits included. */
  private readonly decided = new Map<string, readonly FileProposal[]>();
  private readonly allowed = new Map<string, string>();
  private readonly running = new Map<string, string>();

  constructor(private readonly output: CallOutput) {}

  /** Allowed calls that wait for the server's confirmation, as text. */
  get unconfirmed(): readonly string[] {
    return [...this.allowed.values()];
  }

  /** Calls that have begun and not ended, as text. */
  get started(): readonly string[] {
    return [...this.running.values()];
  }

  remember({ call }: Question, files: readonly FileProposal[]): void {
    if ('callId' in call) this.decided.set(call.callId as string, files);
  }

  /** Wraps handlers so that each call is reported until its end. */
  follow(tools: ToolHandlers): ToolHandlers {
    return Object.fromEntries(Object.entries(tools).map(([name, handler]) => [name, this.followed(handler)]));
  }

  private followed(handler: ToolHandler): ToolHandler {
    if (typeof handler === 'function') {
      return (call, context) => this.reportSteps(call, context, (followed) => handler(call, followed));
    }
    return {
      run: (call, context) => this.reportSteps(call, context, (followed) => handler.run(call, followed)),
      recover: (call, context, interrupted) =>
        this.reportSteps(call, context, (followed) => handler.recover(call, followed, interrupted)),
      ...(handler.settle && { settle: handler.settle.bind(handler) }),
      ...(handler.reportFailure && { reportFailure: handler.reportFailure.bind(handler) }),
    };
  }

  private async reportSteps(
    call: ToolCallDelivery,
    context: CallContext,
    work: (context: CallContext) => Promise<ToolOutcome>,
  ): Promise<ToolOutcome> {
    const { callId } = call;
    const { output } = this;
    let slow: NodeJS.Timeout | undefined;
    const start: CallContext['start'] = async (...decided) => {
      const words = callText(call, this.decided.get(callId));
      const sayRunning = () => output.say(`${output.marks.running} running: ${words}`);
      if (output.isConnected) slow = setTimeout(sayRunning, RUNNING_MS);
      else output.say(`${output.marks.running} kept until the server is back: ${words}`);
      this.allowed.set(callId, words);
      await context.start(...decided);
      this.allowed.delete(callId);
      this.running.set(callId, words);
    };
    try {
      const outcome = await work({ ...context, start });
      const files = this.decided.get(callId) ?? null;
      for (const line of outcomeLines(call, outcome, files, output.marks)) output.say(line);
      return outcome;
    } catch (error) {
      this.reportEnd(call, context.signal);
      throw error;
    } finally {
      clearTimeout(slow);
      this.allowed.delete(callId);
      this.running.delete(callId);
      this.decided.delete(callId);
    }
  }

  /** The client reports other faults itself. */
  private reportEnd(call: ToolCallDelivery, { aborted, reason }: AbortSignal): void {
    const { output } = this;
    if (!aborted || output.isLeaving) return;
    const why =
      reason instanceof Error && reason.message ? printableLine(reason.message) : 'The call has ended.';
    output.say(
      `${output.marks.refused} ${callText(call, this.decided.get(call.callId))}: ${why} Nothing is written.`,
    );
  }
}
