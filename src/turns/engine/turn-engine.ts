import { Injectable } from '@nestjs/common';
import { DomainError, fieldError, type FieldFaults, throwIfAny } from '../../common/domain-error.js';
import { Lifecycle } from '../../common/lifecycle.js';
import { Config } from '../../config/config.js';
import { TurnStore } from '../../storage/ports/turns.store.js';
import { OpenTurns } from './open-turns.js';
import { type Outcome, ResultCheck } from './result-check.js';
import { SessionsService } from '../../sessions/sessions.service.js';
import type { Call, Turn, TurnRef } from '../../storage/ports/turn.js';
import { TurnAcceptance } from './turn-acceptance.js';
import type { Report } from '../state/turn-input.js';
import { TurnWaiters } from './turn-waiters.js';
import { Memberships } from '../../access/memberships.js';
import type { PostedTurn } from './turn-request-check.js';

const DEFAULT_WAIT_MS = 30_000;

/** Options of accepting a turn. */
export interface Acceptance {
  idempotencyKey?: string | null;
  /** The batch that this turn reverts. */
  revertOf?: string | null;
  /** A single call by `POST …/tools`. */
  isDirect?: boolean;
  /** Called after the turn is stored and before the wait, so that the request body can be released. */
  onStored?: () => void;
}

/** Reported end of a call, as its orchestrator names it. */
export type NamedOutcome = Outcome & { toolCallId: string };

/** A valid posted result. */
interface CheckedReport {
  callId: string;
  report: Report;
}

/** Operations on turns, for any protocol: accept, get and wait, report without a socket, cancel. */
@Injectable()
export class TurnEngine {
  constructor(
    private readonly store: TurnStore,
    private readonly sessions: SessionsService,
    private readonly memberships: Memberships,
    private readonly acceptance: TurnAcceptance,
    private readonly turns: OpenTurns,
    private readonly waiters: TurnWaiters,
    private readonly resultCheck: ResultCheck,
    private readonly lifecycle: Lifecycle,
    private readonly config: Config,
  ) {}

  /** Accepts a turn or finds its duplicate, and waits up to `waitMs` (default 30 s) for its calls to end. */
  async accept(
    workspaceId: string,
    sessionId: string,
    userId: string,
    request: PostedTurn,
    { onStored, ...acceptance }: Acceptance = {},
  ): Promise<Turn> {
    const waitMs = request.waitMs ?? Math.min(DEFAULT_WAIT_MS, this.config.maxWaitMs);
    // Reserve the wait slot first, so a 429 means that the turn was not created.
    return this.inWaitSlot(userId, waitMs, async () => {
      const turn = await this.take(workspaceId, sessionId, userId, request, acceptance);
      onStored?.();
      return this.settled(turn, waitMs);
    });
  }

  private async take(
    workspaceId: string,
    sessionId: string,
    userId: string,
    request: PostedTurn,
    { idempotencyKey = null, revertOf = null, isDirect = false }: Acceptance,
  ): Promise<Turn> {
    const session = await this.sessions.requireOwn(workspaceId, sessionId, userId);
    if (this.lifecycle.stopping.aborted) {
      throw new DomainError('UNAVAILABLE', 'The server is stopping; try again.');
    }
    const name = { turnId: request.turnId ?? null, idempotencyKey };
    return this.acceptance.accept(session, request, name, { revertOf, isDirect });
  }

  /** Runs the work in one of the user's wait slots, if it waits. */
  private async inWaitSlot<T>(userId: string, waitMs: number, work: () => Promise<T>): Promise<T> {
    if (waitMs === 0) return work();
    const slot = this.waiters.enter(userId);
    return work().finally(() => slot.release());
  }

  /** The current turn, after waiting up to `waitMs` for its end. */
  async get(ref: TurnRef, userId: string, waitMs: number): Promise<Turn> {
    this.checkWait(waitMs);
    return this.inWaitSlot(userId, waitMs, async () =>
      this.settled(await this.requireOwn(ref, userId), waitMs),
    );
  }

  /** Cancels a call, or with null the whole turn, for the session's user or an owner. Ended calls stay unchanged. */
  async cancel(ref: TurnRef, userId: string, toolCallId: string | null): Promise<Turn> {
    const turn = await this.requireCancellable(ref, userId);
    const answer = await this.turns.submit(turn, { type: 'cancel', toolCallId, byUserId: userId });
    if (!answer.ok) throw new DomainError(answer.code, answer.message);
    return this.require(ref);
  }

  /** Takes results of a client without a socket: all or none. */
  async report(ref: TurnRef, userId: string, results: NamedOutcome[]): Promise<Turn> {
    const turn = await this.requireOwn(ref, userId);
    const reports = await this.checkResults(turn, results);
    const answer = await this.turns.submit(turn, { type: 'report_all', reports });
    if (!answer.ok) throw new DomainError(answer.code, answer.message);
    return this.requireOwn(ref, userId);
  }

  /** The newest state of the turn, after its end or the timeout. */
  private async settled(turn: Turn, waitMs: number): Promise<Turn> {
    const newest = this.turns.observe(turn);
    if (newest.status !== 'open' || waitMs === 0) return newest;
    return (await this.waiters.ended(newest, waitMs)) ?? this.require(newest);
  }

  private async requireOwn(ref: TurnRef, userId: string): Promise<Turn> {
    await this.sessions.requireOwn(ref.workspaceId, ref.sessionId, userId);
    return this.require(ref);
  }

  private async requireCancellable(ref: TurnRef, userId: string): Promise<Turn> {
    const role = await this.memberships.require({ workspaceId: ref.workspaceId, userId });
    if (role !== 'owner') return this.requireOwn(ref, userId);
    await this.sessions.require(ref.workspaceId, ref.sessionId);
    return this.require(ref);
  }

  private async require(ref: TurnRef): Promise<Turn> {
    const known = this.turns.peek(ref);
    // Another node may have changed a turn known here; its version tells.
    if (known !== null && (await this.store.versionOf(ref)) === known.version) return known;
    const turn = await this.store.find(ref);
    if (!turn) throw new DomainError('NOT_FOUND', 'There is no such turn in this session.');
    return this.turns.observe(turn);
  }

  /** Reports all faults of all results together. */
  private async checkResults(turn: Turn, results: NamedOutcome[]): Promise<CheckedReport[]> {
    const fields: FieldFaults = {};
    const reports: CheckedReport[] = [];
    const seen = new Set<string>();
    for (const [at, posted] of results.entries()) {
      const call = turn.calls.find(({ toolCallId }) => toolCallId === posted.toolCallId);
      const fault = seen.has(posted.toolCallId) ? 'occurs twice' : whyNotReportable(call);
      seen.add(posted.toolCallId);
      if (fault) fields[`results[${at}].toolCallId`] = fault;
      else {
        const report = await this.resultCheck.check(turn, call!, posted).catch((error: unknown) => {
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
