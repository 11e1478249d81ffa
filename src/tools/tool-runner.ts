import { type Json, type JsonObject, wellFormedJson } from '@patchbay/protocol';
import { DomainError } from '../common/domain-error.js';
import { FairQueue } from '../limits/fair-queue.js';
import type { CallSubject } from '../storage/ports/turn.js';
import { subjectOf } from './call-subject.js';
import type { ServerTool, ToolContext } from './tool.js';

const RETRY_AFTER_SECONDS = 1;

/** How a server tool ended. A tool that reports failure in its result has both, the payload and the error. */
export interface ServerToolOutcome {
  result: JsonObject;
  error: { code: string; message: string } | null;
}

/** Runs the server's tools: one door for calls of a turn and for direct ones. */
export class ToolRunner {
  private readonly byName: ReadonlyMap<string, ServerTool>;
  /** Calls that wait until others of their user have ended. */
  private readonly queue: FairQueue;

  /** @param atOnce calls of one user that run at once. @param waiting calls of one user that may wait behind them. */
  constructor(
    readonly tools: readonly ServerTool[],
    atOnce: number,
    waiting: number,
  ) {
    this.queue = new FairQueue({ runningOfKey: atOnce, waitingOfKey: waiting, refuse: tooMany });
    this.byName = new Map(tools.map((tool) => [tool.contract.name, tool]));
  }

  /**
   * Runs a tool, which must exist, with arguments that its contract finds no fault with, once it is the turn of its user;
   * RATE_LIMITED where too many wait already.
   */
  async run(name: string, args: Json, context: ToolContext): Promise<ServerToolOutcome> {
    const work = () => this.byName.get(name)!.execute(args as JsonObject, context);
    const result = wellFormedJson(await this.queue.run(context.userId, work));
    if (result.success !== false) return { result, error: null };
    const { errorCode, message } = result as { errorCode: string; message: string };
    return { result, error: { code: errorCode, message } };
  }

  /** What the audit events of a call to the tool say of its arguments. */
  subjectOf(name: string, args: Json): CallSubject {
    return subjectOf(this.byName.get(name) ?? null, args);
  }
}

function tooMany(): DomainError {
  const message = 'Too many of your tool calls wait already; let some end first.';
  return new DomainError('RATE_LIMITED', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
