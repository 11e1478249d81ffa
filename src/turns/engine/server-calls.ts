import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Json } from '@patchbay/protocol';
import { PinoLogger } from '../../common/pino-logger.js';
import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { asOwner } from '../../common/work-owner.js';
import { Lifecycle } from '../../common/lifecycle.js';
import { Config } from '../../config/config.js';
import { persist } from '../../common/persist.js';
import type { ToolContext } from '../../tools/tool.js';
import { type ServerToolOutcome, ToolRunner } from '../../tools/tool-runner.js';
import { turnKey } from '../../common/keys.js';
import { OpenTurns, type TurnChange } from './open-turns.js';
import { newLease } from '../state/lease.js';
import { jsonBytes, withinCallBudget } from '../state/result-budget.js';
import { Quotas } from '../../limits/quotas.js';
import { NodeId } from '../../storage/ports/node-id.js';
import type { Call, CallSubject, Turn } from '../../storage/ports/turn.js';
import { TurnStore } from '../../storage/ports/turns.store.js';
import type { Report } from '../state/turn-input.js';

/** Runs a turn's server calls sequentially in the LLM's order, so that a read sees earlier writes. */
@Injectable()
export class ServerCalls implements OnApplicationShutdown {
  /** Indexes of the calls that this node has still to run, by turn. */
  private readonly queues = new Map<string, number[]>();
  /** Running calls by callId; each is aborted if it ends otherwise. */
  private readonly running = new Map<string, { key: string; at: number; controller: AbortController }>();
  private readonly renewals = new Set<NodeJS.Timeout>();

  constructor(
    private readonly turns: OpenTurns,
    private readonly store: TurnStore,
    private readonly runner: ToolRunner,
    private readonly quotas: Quotas,
    private readonly node: NodeId,
    private readonly lifecycle: Lifecycle,
    private readonly clock: Clock,
    private readonly config: Config,
    private readonly logger: PinoLogger,
  ) {
    logger.setContext(ServerCalls.name);
  }

  /** A tool that hangs keeps its turn's lease only until shutdown; then another node takes over. */
  onApplicationShutdown(): void {
    for (const renewal of this.renewals) clearInterval(renewal);
  }

  /** Starts the calls that this node has to run, whoever committed them. Part of `TurnReactions`. */
  react({ before, after, own, callArguments }: TurnChange): void {
    this.stopEnded(after);
    if (after.lease?.owner !== this.node.value) return;
    // A call already executing when this node loaded the turn belongs to an earlier process.
    const known = before ?? (own ? null : after);
    const begun: number[] = [];
    after.calls.forEach((call, at) => {
      if (call.status === 'executing' && known?.calls[at]?.status !== 'executing') begun.push(at);
    });
    if (begun.length === 0) return;
    const queue = this.queues.get(turnKey(after));
    if (queue) queue.push(...begun);
    else void asOwner(after.userId, () => this.runAll(after, begun, callArguments));
  }

  private stopEnded(after: Turn): void {
    const key = turnKey(after);
    for (const running of this.running.values()) {
      if (running.key === key && after.calls[running.at]!.status !== 'executing')
        running.controller.abort(hasEnded());
    }
  }

  private async runAll(turn: Turn, queue: number[], callArguments: readonly Json[] | null): Promise<void> {
    const key = turnKey(turn);
    this.queues.set(key, queue);
    const renewal = setInterval(() => void this.renew(turn), this.config.catchUpMs);
    this.renewals.add(renewal);
    try {
      for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
        const { callId } = turn.calls[at]!;
        const args = await this.argumentsOf(turn, at, callArguments);
        const call = this.turns.ofCall(callId)?.calls[at];
        // It may have been cancelled or taken over since.
        if (call?.status === 'executing' && args !== undefined)
          await this.end(turn, call, await this.run(turn, call, args));
      }
    } finally {
      clearInterval(renewal);
      this.renewals.delete(renewal);
      this.queues.delete(key);
    }
  }

  /** The arguments to run with: edited, else posted. Undefined if the server is stopping. */
  private argumentsOf(
    { calls, ...turn }: Turn,
    at: number,
    callArguments: readonly Json[] | null,
  ): Promise<Json | undefined> {
    const { callId } = calls[at]!;
    const { editedAt } = this.turns.ofCall(callId)?.calls[at]?.approved ?? {};
    const read = async () => {
      if (editedAt === undefined) return callArguments?.[at] ?? this.store.argumentsOfCall(turn, at);
      const edited = await this.store.editedArgumentsOf(turn, callId);
      if (edited === null) throw new Error(`Call ${callId} has lost its edited arguments.`);
      return edited;
    };
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
    return withinCallBudget(await this.reportOf(turn, call, args), this.config.maxResultBytes);
  }

  private async reportOf(turn: Turn, call: Call, args: Json): Promise<Report> {
    const began = this.clock.now();
    const isEdited = call.approved?.editedAt !== undefined;
    const subject = isEdited ? this.runner.subjectOf(call.name, args) : call.subject;
    const controller = new AbortController();
    const at = turn.calls.findIndex(({ callId }) => callId === call.callId);
    this.running.set(call.callId, { key: turnKey(turn), at, controller });
    try {
      // No call of a removed user starts, even before its turn is cancelled.
      await this.quotas.requireMember(turn);
      const outcome = await this.runner.run(call.name, args, contextOf(turn, call, controller.signal));
      return outcomeReport(subject, outcome, this.clock.now() - began);
    } catch (error) {
      if (error instanceof DomainError) return failure(subject, error.code, error.message, detailsOf(error));
      this.logger.error({ err: error, callId: call.callId, tool: call.name }, 'A server tool failed');
      return failure(
        subject,
        'INTERNAL_ERROR',
        'The tool failed on the server. The log of the server has the cause.',
      );
    } finally {
      this.running.delete(call.callId);
    }
  }

  /** An executed call must end, so a failing store is retried. */
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
  signal: AbortSignal,
): ToolContext {
  const { toolCallId, callId } = call;
  return { workspaceId, userId, sessionId, conversationId, turnId, toolCallId, callId, signal };
}

/** The error for a tool that continues after its call has ended. */
function hasEnded(): DomainError {
  return new DomainError('CONFLICT', 'The call has ended already.');
}

function outcomeReport(
  subject: CallSubject,
  { result, error }: ServerToolOutcome,
  executionMs: number,
): Report {
  const status = error ? 'failed' : 'succeeded';
  const summary = { ...subject, success: !error, errorCode: error?.code ?? null };
  return { status, result, error, bytes: jsonBytes(result), executionMs, digest: '', summary };
}

/** Error details for the model: faults by argument, or the current sha256 of a STALE file. */
function detailsOf({ extras: { fields, details } }: DomainError): Json | undefined {
  return fields ? { fields: { ...fields } } : details;
}

function failure(subject: CallSubject, code: string, message: string, details?: Json): Report {
  const error = { code, message, ...(details !== undefined && { details }) };
  const summary = { ...subject, success: false, errorCode: code };
  const bytes = jsonBytes(details);
  return { status: 'failed', result: null, error, bytes, executionMs: null, digest: '', summary };
}
