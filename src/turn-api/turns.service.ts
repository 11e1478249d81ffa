import { Injectable } from '@nestjs/common';
import type { InvokeResult, Json, ResultFormat, TurnEnvelope } from '@patchbay/protocol';
import { DomainError, fieldError, type FieldFaults, throwIfAny } from '../common/domain-error.js';
import { Lifecycle } from '../common/lifecycle.js';
import { Config } from '../config/config.js';
import { TurnStore } from '../storage/ports/turns.store.js';
import { envelopeOf, taken } from './turn-envelope.js';
import { OpenTurns } from '../turns/open-turns.js';
import { ResultCheck } from '../delivery/result-check.js';
import { SessionsService } from '../sessions/sessions.service.js';
import type { Call, Turn, TurnRef } from '../storage/ports/turn.js';
import { TurnAcceptance } from './turn-acceptance.js';
import type { Report } from '../turns/turn-input.js';
import { TurnWaiters } from '../turns/turn-waiters.js';
import type { GetTurnQueryDto, PostedResultDto, PostTurnDto } from './turns.dto.js';

const DEFAULT_WAIT_MS = 30_000;

/** A posted result that keeps to its tool's contract. */
interface CheckedReport {
  callId: string;
  report: Report;
}

/** What an orchestrator does with turns: post, look and wait, report for a client without a socket, cancel. */
@Injectable()
export class TurnsService {
  constructor(
    private readonly store: TurnStore,
    private readonly sessions: SessionsService,
    private readonly acceptance: TurnAcceptance,
    private readonly turns: OpenTurns,
    private readonly waiters: TurnWaiters,
    private readonly resultCheck: ResultCheck,
    private readonly lifecycle: Lifecycle,
    private readonly config: Config,
  ) {}

  /** Takes a turn, or finds the one that the same request made before, and waits for its calls to end. */
  async post(
    workspaceId: string,
    sessionId: string,
    userId: string,
    request: PostTurnDto,
    idempotencyKey: string | null,
    /** Of a batch that this turn undoes. */
    revertOf: string | null = null,
  ): Promise<InvokeResult<TurnEnvelope>> {
    const waitMs = request.waitMs ?? Math.min(DEFAULT_WAIT_MS, this.config.maxWaitMs);
    const session = await this.sessions.requireOwn(workspaceId, sessionId, userId);
    if (this.lifecycle.stopping.aborted) {
      throw new DomainError('UNAVAILABLE', 'The server is stopping; try again.');
    }
    const name = { turnId: request.turnId ?? null, idempotencyKey };
    const turn = await this.acceptance.accept(session, request, name, revertOf);
    return this.answer(turn, waitMs, request.resultFormat);
  }

  async get(
    ref: TurnRef,
    userId: string,
    { waitMs, resultFormat }: GetTurnQueryDto,
  ): Promise<InvokeResult<TurnEnvelope>> {
    this.checkWait(waitMs);
    return this.answer(await this.requireOwn(ref, userId), waitMs, resultFormat);
  }

  /** Cancels a call, or with null the whole turn. What has ended stays as it is. */
  async cancel(ref: TurnRef, userId: string, toolCallId: string | null): Promise<InvokeResult<TurnEnvelope>> {
    const turn = await this.requireOwn(ref, userId);
    const answer = await this.turns.submit(turn, { type: 'cancel', toolCallId, byUserId: userId });
    if (!answer.ok) throw new DomainError(answer.code, answer.message);
    return this.answer(await this.requireOwn(ref, userId), 0);
  }

  /** Takes results from a client without a socket: all of them or none. */
  async report(
    ref: TurnRef,
    userId: string,
    results: PostedResultDto[],
  ): Promise<InvokeResult<TurnEnvelope>> {
    const turn = await this.requireOwn(ref, userId);
    const reports = await this.checkResults(turn, results);
    const answer = await this.turns.submit(turn, { type: 'report_all', reports });
    if (!answer.ok) throw new DomainError(answer.code, answer.message);
    return this.answer(await this.requireOwn(ref, userId), 0);
  }

  private async answer(
    turn: Turn,
    waitMs: number,
    format?: ResultFormat,
  ): Promise<InvokeResult<TurnEnvelope>> {
    let newest = this.turns.observe(turn);
    if (newest.status === 'open' && waitMs > 0) {
      const ended = await this.waiters.ended(newest, waitMs);
      newest = ended ?? (await this.store.find(turn)) ?? newest;
    }
    const open = newest.calls.some(({ endedAt }) => endedAt === null);
    const callArguments: Json[] = open ? await this.store.argumentsOf(newest) : [];
    return taken(newest, envelopeOf(newest, callArguments, await this.store.resultsOf(newest), format));
  }

  private async requireOwn(ref: TurnRef, userId: string): Promise<Turn> {
    await this.sessions.requireOwn(ref.workspaceId, ref.sessionId, userId);
    // From the store, always: what this node knows of a turn another one may have changed.
    const turn = await this.store.find(ref);
    if (!turn) throw new DomainError('NOT_FOUND', 'There is no such turn in this session.');
    return this.turns.observe(turn);
  }

  /** Every fault of every result at once. */
  private async checkResults(turn: Turn, results: PostedResultDto[]): Promise<CheckedReport[]> {
    const fields: FieldFaults = {};
    const reports: CheckedReport[] = [];
    const seen = new Set<string>();
    for (const [at, posted] of results.entries()) {
      const call = turn.calls.find(({ toolCallId }) => toolCallId === posted.toolCallId);
      const fault = seen.has(posted.toolCallId) ? 'is there twice' : whyNotReportable(call);
      seen.add(posted.toolCallId);
      if (fault) fields[`results[${at}].toolCallId`] = fault;
      else {
        const report = await this.resultCheck
          .check(turn.workspaceId, call!, posted)
          .catch((error: unknown) => {
            if (!(error instanceof DomainError)) throw error;
            for (const [field, why] of Object.entries(error.extras.fields ?? { result: error.message }))
              fields[`results[${at}].${field}`] = why;
            return null;
          });
        if (report) reports.push({ callId: call!.callId, report });
      }
    }
    throwIfAny(fields);
    return reports;
  }

  private checkWait(waitMs: number): number {
    if (waitMs > this.config.maxWaitMs)
      throw fieldError('waitMs', `must not be over ${this.config.maxWaitMs}`);
    return waitMs;
  }
}

function whyNotReportable(call: Call | undefined): string | null {
  if (!call) return 'is not a call of this turn';
  return call.location === 'server' ? 'is run by the server' : null;
}
