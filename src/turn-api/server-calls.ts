import { Injectable } from '@nestjs/common';
import type { Json } from '@patchbay/protocol';
import { PinoLogger } from 'nestjs-pino';
import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { Lifecycle } from '../common/lifecycle.js';
import { persist } from '../common/persist.js';
import type { ToolContext } from '../tools/server-tool.js';
import { type ServerToolOutcome, ToolRunner } from '../tools/tool-runner.js';
import { turnKey } from '../common/keys.js';
import { OpenTurns, type TurnChange } from '../turns/open-turns.js';
import { newLease } from '../turns/lease.js';
import { subjectOf } from '../turns/subject.js';
import { NodeId } from '../storage/ports/node-id.js';
import type { Call, CallSubject, Turn } from '../storage/ports/turn.js';
import { TurnStore } from '../storage/ports/turns.store.js';
import type { Report } from '../turns/turn-input.js';

/** How often a node says that it still runs its calls, in ms. */
const RENEW_MS = 5_000;

/** Runs a turn's server-located calls, one after another in the LLM's order: a read after a write sees what was written. */
@Injectable()
export class ServerCalls {
  /** Positions of the calls that this node has yet to run, by turn. */
  private readonly queues = new Map<string, number[]>();

  constructor(
    private readonly turns: OpenTurns,
    private readonly store: TurnStore,
    private readonly runner: ToolRunner,
    private readonly node: NodeId,
    private readonly lifecycle: Lifecycle,
    private readonly clock: Clock,
    private readonly logger: PinoLogger,
  ) {
    logger.setContext(ServerCalls.name);
    turns.changes$.subscribe((change) => this.onChange(change));
  }

  /** Takes up what is this node's to run from here on, whoever committed it. */
  private onChange({ before, after, callArguments }: TurnChange): void {
    if (after.lease?.owner !== this.node.value) return;
    const begun = after.calls.flatMap(({ status }, at) => {
      // What was executing when this node got to know the turn is nobody's: an earlier process of the node began it.
      const isNew = callArguments !== null || (before !== null && before.calls[at]!.status !== 'executing');
      return status === 'executing' && isNew ? [at] : [];
    });
    if (begun.length === 0) return;
    const queue = this.queues.get(turnKey(after));
    if (queue) queue.push(...begun);
    else void this.runAll(after, begun, callArguments);
  }

  private async runAll(turn: Turn, queue: number[], callArguments: readonly Json[] | null): Promise<void> {
    const key = turnKey(turn);
    this.queues.set(key, queue);
    const renewal = setInterval(() => void this.renew(turn), RENEW_MS);
    try {
      for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
        const { callId } = turn.calls[at]!;
        const args = await this.argumentsOf(turn, at, callArguments);
        const call = this.turns.ofCall(callId)?.calls[at];
        // It may have been cancelled since, or taken over.
        if (call?.status === 'executing' && args !== undefined)
          await this.end(turn, call, await this.run(turn, call, args));
      }
    } finally {
      clearInterval(renewal);
      this.queues.delete(key);
    }
  }

  /** What the call is to be run with: as a person edited it, else as it was posted. Undefined where the server stops. */
  private argumentsOf(
    { calls, ...turn }: Turn,
    at: number,
    callArguments: readonly Json[] | null,
  ): Promise<Json | undefined> {
    const { callId } = calls[at]!;
    const edited = this.turns.ofCall(callId)?.calls[at]?.approved?.editedArguments;
    const known = edited ?? callArguments?.[at];
    const read = async () => known ?? (await this.store.argumentsOfCall(turn, at));
    return persist(read, this.lifecycle.stopping, (error) =>
      this.logger.error(
        { err: error, callId },
        'The arguments of a server tool could not be read; trying again',
      ),
    );
  }

  private async renew(turn: Turn): Promise<void> {
    const lease = newLease(this.node.value, this.clock.now());
    await this.turns.submit(turn, { type: 'lease', lease }).catch((error: unknown) => {
      this.logger.warn({ err: error, turnId: turn.turnId }, 'A lease could not be renewed; trying again');
    });
  }

  private async run(turn: Turn, call: Call, args: Json): Promise<Report> {
    const began = this.clock.now();
    const subject = call.approved?.editedArguments === undefined ? call.subject : subjectOf(call.name, args);
    try {
      const outcome = await this.runner.run(call.name, args, contextOf(turn, call));
      return outcomeReport(subject, outcome, this.clock.now() - began);
    } catch (error) {
      if (error instanceof DomainError) return failure(subject, error.code, error.message, detailsOf(error));
      this.logger.error({ err: error, callId: call.callId, tool: call.name }, 'A server tool failed');
      return failure(
        subject,
        'INTERNAL_ERROR',
        'The tool failed on the server. Its operator finds the cause in the log.',
      );
    }
  }

  /** A call that has run must end, even if the store can't take it at the moment. */
  private async end(turn: Turn, { callId }: Call, report: Report): Promise<void> {
    const record = () => this.turns.submit(turn, { type: 'executed', callId, report });
    await persist(record, this.lifecycle.stopping, (error) =>
      this.logger.error(
        { err: error, callId },
        'The end of a server tool could not be recorded; trying again',
      ),
    );
  }
}

function contextOf(
  { workspaceId, userId, sessionId, conversationId, turnId }: Turn,
  call: Call,
): ToolContext {
  const { toolCallId, callId } = call;
  return { workspaceId, userId, sessionId, conversationId, turnId, toolCallId, callId };
}

function outcomeReport(
  subject: CallSubject,
  { result, error }: ServerToolOutcome,
  executionMs: number,
): Report {
  const status = error ? 'failed' : 'succeeded';
  const summary = { ...subject, success: !error, errorCode: error?.code ?? null };
  return { status, result, error, executionMs, digest: '', summary };
}

/** What else the model should know of a refusal: its faults by argument, the sha256 that a STALE file has now. */
function detailsOf({ extras: { fields, details } }: DomainError): Json | undefined {
  return fields ? { fields: { ...fields } } : details;
}

function failure(subject: CallSubject, code: string, message: string, details?: Json): Report {
  const error = { code, message, ...(details !== undefined && { details }) };
  const summary = { ...subject, success: false, errorCode: code };
  return { status: 'failed', result: null, error, executionMs: null, digest: '', summary };
}
