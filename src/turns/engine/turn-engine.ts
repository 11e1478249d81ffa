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

/** How a turn is accepted, beside what is posted. */
export interface Acceptance {
  idempotencyKey?: string | null;
  /** The batch that this turn undoes. */
  revertOf?: string | null;
  /** A call that is made for its own sake, by `POST …/tools`. */
  isDirect?: boolean;
  /** Told once the turn is stored, before its end is waited for: what came with the request can go. */
  onStored?: () => void;
}

/** How a call of a turn ended, as its orchestrator reports it. */
export type NamedOutcome = Outcome & { toolCallId: string };

/** A posted result that keeps to its tool's contract. */
interface CheckedReport {
  callId: string;
  report: Report;
}

/** What an orchestrator does with turns, over whatever protocol: accept, get and wait, report for a client without a socket, cancel. */
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

  /**
   * Accepts a turn, or finds the one that the same request made before, and waits up to `waitMs` for its calls to end:
   * 30 s, where the request does not say.
   */
  async accept(
    workspaceId: string,
    sessionId: string,
    userId: string,
    request: PostedTurn,
    { onStored, ...acceptance }: Acceptance = {},
  ): Promise<Turn> {
    const waitMs = request.waitMs ?? Math.min(DEFAULT_WAIT_MS, this.config.maxWaitMs);
    // Before the turn is taken: who may not wait for it is not to wonder whether it runs.
    return this.waiting(userId, waitMs, async () => {
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

  /** With a slot among the user's requests that wait, where it does. */
  private async waiting<T>(userId: string, waitMs: number, work: () => Promise<T>): Promise<T> {
    if (waitMs === 0) return work();
    const slot = this.waiters.enter(userId);
    return work().finally(() => slot.release());
  }

  /** The turn as it stands, after waiting for its end for as long as `waitMs` says. */
  async get(ref: TurnRef, userId: string, waitMs: number): Promise<Turn> {
    this.checkWait(waitMs);
    return this.waiting(userId, waitMs, async () => this.settled(await this.requireOwn(ref, userId), waitMs));
  }

  /**
   * Cancels a call, or with null the whole turn, for the session's user or an owner of the workspace. What has ended stays
   * as it is.
   */
  async cancel(ref: TurnRef, userId: string, toolCallId: string | null): Promise<Turn> {
    const turn = await this.requireCancellable(ref, userId);
    const answer = await this.turns.submit(turn, { type: 'cancel', toolCallId, byUserId: userId });
    if (!answer.ok) throw new DomainError(answer.code, answer.message);
    return this.require(ref);
  }

  /** Takes results from a client without a socket: all of them or none. */
  async report(ref: TurnRef, userId: string, results: NamedOutcome[]): Promise<Turn> {
    const turn = await this.requireOwn(ref, userId);
    const reports = await this.checkResults(turn, results);
    const answer = await this.turns.submit(turn, { type: 'report_all', reports });
    if (!answer.ok) throw new DomainError(answer.code, answer.message);
    return this.requireOwn(ref, userId);
  }

  /** The newest state of the turn, once it has ended or the time is up. */
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
    // What this node knows of a turn another one may have changed; its version says so.
    if (known !== null && (await this.store.versionOf(ref)) === known.version) return known;
    const turn = await this.store.find(ref);
    if (!turn) throw new DomainError('NOT_FOUND', 'There is no such turn in this session.');
    return this.turns.observe(turn);
  }

  /** Every fault of every result at once. */
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
