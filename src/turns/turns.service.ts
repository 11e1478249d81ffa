import { Injectable } from '@nestjs/common';
import type { InvokeResult, Json, TurnEnvelope } from '@patchbay/protocol';
import { DomainError, fieldError, type FieldFaults } from '../common/domain-error.js';
import { Lifecycle } from '../common/lifecycle.js';
import { Config } from '../config.js';
import type { SessionRecord } from '../storage/ports/sessions.store.js';
import { TurnStore } from '../storage/ports/turns.store.js';
import { auditDraft } from './audit-drafts.js';
import { Deliveries } from './deliveries.js';
import { Dispatcher } from './dispatcher.js';
import { envelopeOf, taken } from './envelope.js';
import { OpenTurns } from './open-turns.js';
import { Reports } from './reports.js';
import { SessionClients } from './session-clients.js';
import { SessionsService } from '../sessions/sessions.service.js';
import type { Call, Turn, TurnRef } from './turn.js';
import { type AcceptedTurn, TurnBuilder } from './turn-builder.js';
import type { TurnEffect } from './turn-draft.js';
import { advance, type Report } from './turn-state.js';
import { TurnWaiters } from './turn-waiters.js';
import type { PostedResultDto, PostTurnDto } from './turns.dto.js';

/** How long an idempotency key counts, in ms. */
const KEY_LIFE_MS = 24 * 60 * 60_000;
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
    private readonly builder: TurnBuilder,
    private readonly turns: OpenTurns,
    private readonly dispatcher: Dispatcher,
    private readonly deliveries: Deliveries,
    private readonly sessionClients: SessionClients,
    private readonly waiters: TurnWaiters,
    private readonly reports: Reports,
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
  ): Promise<InvokeResult<TurnEnvelope>> {
    const waitMs = this.checkWait(request.waitMs ?? DEFAULT_WAIT_MS);
    const session = await this.sessions.requireOwn(workspaceId, sessionId, userId);
    const accepted = this.builder.build(session, request, idempotencyKey);
    if (this.lifecycle.stopping.aborted)
      throw new DomainError('UNAVAILABLE', 'The server is stopping; try again.');
    return this.answer(await this.accept(accepted, session), waitMs);
  }

  async get(ref: TurnRef, userId: string, waitMs: number): Promise<InvokeResult<TurnEnvelope>> {
    this.checkWait(waitMs);
    return this.answer(await this.requireOwn(ref, userId), waitMs);
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
    const reports = this.checkResults(turn, results);
    const answer = await this.turns.submit(turn, { type: 'report_all', reports });
    if (!answer.ok) throw new DomainError(answer.code, answer.message);
    return this.answer(await this.requireOwn(ref, userId), 0);
  }

  private async accept(accepted: AcceptedTurn, session: SessionRecord): Promise<Turn> {
    await this.sessionClients.recall(session.workspaceId, session.id);
    const claimed = this.claimAtOnce(accepted);
    const { turn, effects } = claimed;
    const events = claimed.events.map((event) => auditDraft(turn, event, turn.acceptedAt));
    const limits = { maxOpenTurns: this.config.maxOpenTurns, keysSince: turn.acceptedAt - KEY_LIFE_MS };
    const inserted = await this.store
      .insert(turn, accepted.callArguments, [], events, limits)
      .catch((error: unknown) => {
        this.giveBack(turn);
        throw error;
      });
    if (inserted.outcome === 'inserted') {
      this.turns.adopt({ before: accepted.turn, after: turn, events, effects });
      return turn;
    }
    this.giveBack(turn);
    if (inserted.outcome === 'too_many_open') {
      throw new DomainError(
        'RATE_LIMITED',
        `The workspace has ${this.config.maxOpenTurns} open turns; let some end first.`,
        {
          retryAfterSeconds: 5,
        },
      );
    }
    return this.sameTurn(turn, inserted.byTurnId, inserted.byKey);
  }

  /** Where a fitting client is connected, accepting and claiming are one write. */
  private claimAtOnce({
    turn,
    callArguments,
    events,
  }: AcceptedTurn): AcceptedTurn & { effects: TurnEffect[] } {
    const claimed = { turn, callArguments, events: [...events], effects: [] as TurnEffect[] };
    turn.calls.forEach((call, at) => {
      const clientId = call.status === 'pending' ? this.dispatcher.reserve(turn, call) : null;
      if (clientId === null) return;
      const step = advance(claimed.turn, { type: 'claim', callId: call.callId, clientId }, turn.acceptedAt);
      this.deliveries.keepArguments(call.callId, callArguments[at]!);
      claimed.turn = step.turn;
      claimed.events.push(...step.events);
      claimed.effects.push(...step.effects);
    });
    return claimed;
  }

  /** Undoes the claims of a turn that was not stored. */
  private giveBack(turn: Turn): void {
    for (const { callId, clientId } of turn.calls) {
      if (clientId === null) continue;
      this.deliveries.dropArguments(callId);
      this.dispatcher.release(turn, callId, clientId);
    }
  }

  /** The turn that the same request made before; CONFLICT where the request is another one. */
  private sameTurn(wanted: Turn, byTurnId: Turn | null, byKey: Turn | null): Turn {
    if (byTurnId && byKey && (byTurnId.sessionId !== byKey.sessionId || byTurnId.turnId !== byKey.turnId)) {
      throw new DomainError('CONFLICT', 'The Idempotency-Key and the turnId belong to different turns.');
    }
    const known = (byTurnId ?? byKey)!;
    if (known.requestHash !== wanted.requestHash) {
      const name = byTurnId ? 'turnId' : 'Idempotency-Key';
      throw new DomainError(
        'CONFLICT',
        `This ${name} was used for another turn; send new calls under a new one.`,
      );
    }
    return known;
  }

  private async answer(turn: Turn, waitMs: number): Promise<InvokeResult<TurnEnvelope>> {
    let newest = this.turns.watch(turn);
    if (newest.status === 'open' && waitMs > 0) {
      await this.waiters.ended(newest, waitMs);
      newest = this.turns.peek(turn) ?? (await this.store.find(turn)) ?? newest;
    }
    const open = newest.calls.some(({ endedAt }) => endedAt === null);
    const callArguments: Json[] = open ? await this.store.argumentsOf(newest) : [];
    return taken(envelopeOf(newest, callArguments, await this.store.resultsOf(newest)));
  }

  private async requireOwn(ref: TurnRef, userId: string): Promise<Turn> {
    await this.sessions.requireOwn(ref.workspaceId, ref.sessionId, userId);
    const turn = this.turns.peek(ref) ?? (await this.store.find(ref));
    if (!turn) throw new DomainError('NOT_FOUND', 'There is no such turn in this session.');
    return turn;
  }

  private checkResults(turn: Turn, results: PostedResultDto[]): CheckedReport[] {
    const fields: FieldFaults = {};
    const reports: CheckedReport[] = [];
    const seen = new Set<string>();
    results.forEach((posted, at) => {
      const call = turn.calls.find(({ toolCallId }) => toolCallId === posted.toolCallId);
      const fault = seen.has(posted.toolCallId) ? 'is there twice' : whyNotReportable(call);
      seen.add(posted.toolCallId);
      if (fault) return void (fields[`results[${at}].toolCallId`] = fault);
      try {
        reports.push({ callId: call!.callId, report: this.reports.check(call!, posted) });
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        fields[`results[${at}].result`] = error.message;
      }
    });
    const [first] = Object.entries(fields);
    if (first) throw new DomainError('VALIDATION_ERROR', `${first[0]} ${first[1]}`, { fields });
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
