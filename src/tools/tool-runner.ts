import { type Json, type JsonObject, wellFormedJson } from '@patchbay/protocol';
import { DomainError } from '../common/domain-error.js';
import { FairQueue } from '../limits/fair-queue.js';
import type { CallSubject } from '../storage/ports/turn.js';
import { subjectOf } from './call-subject.js';
import type { ServerTool, ToolContext } from './tool.js';

const RETRY_AFTER_SECONDS = 1;

/** Outcome of a server tool. A tool that reports failure in its result has both payload and error. */
export interface ServerToolOutcome {
  result: JsonObject;
  error: { code: string; message: string } | null;
}

/** Runs server tools, for calls of turns and direct calls. */
export class ToolRunner {
  private readonly byName: ReadonlyMap<string, ServerTool>;
  /** Calls that wait for others of the same user. */
  private readonly queue: FairQueue;

  /** @param atOnce parallel calls per user @param waiting queued calls per user */
  constructor(
    readonly tools: readonly ServerTool[],
    atOnce: number,
    waiting: number,
  ) {
    this.queue = new FairQueue({ runningOfKey: atOnce, waitingOfKey: waiting, refuse: tooMany });
    this.byName = new Map(tools.map((tool) => [tool.contract.name, tool]));
  }

  /** Runs an existing tool with valid arguments when the user's turn comes; RATE_LIMITED if too many wait. */
  async run(name: string, args: Json, context: ToolContext): Promise<ServerToolOutcome> {
    const work = () => this.byName.get(name)!.execute(args as JsonObject, context);
    const result = wellFormedJson(await this.queue.run(context.userId, work));
    if (result.success !== false) return { result, error: null };
    const { errorCode, message } = result as { errorCode: string; message: string };
    return { result, error: { code: errorCode, message } };
  }

  /** What the audit events of a call to the tool record about its arguments. */
  subjectOf(name: string, args: Json): CallSubject {
    return subjectOf(this.byName.get(name) ?? null, args);
  }
}

function tooMany(): DomainError {
  const message = 'Too many of your tool calls are waiting; wait until some have ended.';
  return new DomainError('RATE_LIMITED', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
