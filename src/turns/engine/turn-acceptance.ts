import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { newId } from '../../common/ids.js';
import { Dispatcher } from './dispatcher.js';
import { IdempotencyKeyStore, type KeyClaim } from '../../storage/records/idempotency-keys.js';
import { NodeId } from '../../storage/ports/node-id.js';
import { PatchStore } from '../../storage/ports/patches.store.js';
import type { SessionRecord } from '../../storage/records/sessions.js';
import type { SessionUse, Turn } from '../../storage/ports/turn.js';
import { TurnStore } from '../../storage/ports/turns.store.js';
import { auditDraft } from '../state/audit-drafts.js';
import { OpenTurns } from './open-turns.js';
import { advance } from '../state/turn-state.js';
import { NO_MEMBER } from './removed-members.js';
import { KEY_LIFE_MS } from './key-sweep.js';
import { OpenTurnQuota } from '../../limits/open-turn-quota.js';
import { type AcceptedTurn, TurnBuilder, type TurnPurpose } from './turn-builder.js';
import { FEW_CHARS, type PostedTurn, TurnRequestCheck } from './turn-request-check.js';

/** A session that has used no client yet. */
const UNUSED: SessionUse = { lastClientId: null, folder: null };

/** The idempotency names of a turn. */
export interface TurnName {
  turnId: string | null;
  idempotencyKey: string | null;
}

/** Accepts a posted turn: validates, deduplicates, builds and stores it, and claims what can be claimed. */
@Injectable()
export class TurnAcceptance {
  constructor(
    private readonly store: TurnStore,
    private readonly keys: IdempotencyKeyStore,
    private readonly patches: PatchStore,
    private readonly requests: TurnRequestCheck,
    private readonly builder: TurnBuilder,
    private readonly turns: OpenTurns,
    private readonly dispatcher: Dispatcher,
    private readonly openTurns: OpenTurnQuota,
    private readonly node: NodeId,
    private readonly clock: Clock,
  ) {}

  /** Returns the turn of a request or of its earlier duplicate; CONFLICT if the name was used for another request. */
  async accept(
    session: SessionRecord,
    request: PostedTurn,
    name: TurnName,
    purpose: TurnPurpose,
  ): Promise<Turn> {
    const turn = await this.acceptNamed(session, request, name, purpose);
    // Releases memory, since the answer may wait for minutes.
    request.toolCalls = [];
    return turn;
  }

  private async acceptNamed(
    session: SessionRecord,
    request: PostedTurn,
    name: TurnName,
    purpose: TurnPurpose,
  ): Promise<Turn> {
    const checked = await this.requests.check(session, request);
    const found = await this.find(session, name);
    if (found.turn) return sameRequest(found.turn, checked.requestHash, found.by);
    const turnId = found.claimedTurnId ?? name.turnId ?? newId();
    if (name.idempotencyKey !== null && found.claimedTurnId === null) {
      const claim = await this.claimKey(session, name.idempotencyKey, turnId);
      // Another request with this key was faster; its turn counts.
      if (claim.turnId !== turnId || claim.sessionId !== session.id) {
        return this.acceptNamed(session, request, name, purpose);
      }
    }
    const { workspaceId, userId, id: sessionId } = session;
    const ref = { workspaceId, userId, sessionId, turnId };
    const reservation = await this.openTurns.take(ref, checked.calls.length).catch(async (error: unknown) => {
      // A duplicate may have stored the turn meanwhile and used the last room.
      if ((await this.store.versionOf(ref)) === null) throw error;
      return null;
    });
    if (reservation === null) return this.acceptNamed(session, request, { ...name, turnId }, purpose);
    try {
      const use = await this.store.lastUseOf(session.workspaceId, session.id);
      return await this.insert(
        await this.builder.build(session, checked, { turnId, use: use ?? UNUSED, ...purpose }),
        checked.chars <= FEW_CHARS,
      );
    } finally {
      reservation.release();
    }
  }

  /** The turn that a name refers to. A key may name a turn that was never stored; then this request creates it. */
  private async find(
    { workspaceId, id: sessionId, userId }: SessionRecord,
    { turnId, idempotencyKey: key }: TurnName,
  ): Promise<{ turn: Turn | null; by: 'turnId' | 'Idempotency-Key'; claimedTurnId: string | null }> {
    const turn = turnId === null ? null : await this.store.find({ workspaceId, sessionId, turnId });
    const claim = key === null ? null : await this.keys.find(workspaceId, userId, key, this.keysSince());
    if (claim === null) return { turn, by: 'turnId', claimedTurnId: null };
    if (turnId !== null && (claim.turnId !== turnId || claim.sessionId !== sessionId)) {
      throw new DomainError('CONFLICT', 'The Idempotency-Key and the turnId belong to different turns.');
    }
    if (claim.sessionId !== sessionId) throw usedForAnother('Idempotency-Key');
    return turn
      ? { turn, by: 'turnId', claimedTurnId: claim.turnId }
      : { turn: await this.store.find(claim), by: 'Idempotency-Key', claimedTurnId: claim.turnId };
  }

  private claimKey(
    { workspaceId, id: sessionId, userId }: SessionRecord,
    key: string,
    turnId: string,
  ): Promise<KeyClaim> {
    const claimedAt = this.clock.now();
    return this.keys.claim({ workspaceId, userId, key, sessionId, turnId, claimedAt }, this.keysSince());
  }

  private keysSince(): number {
    return this.clock.now() - KEY_LIFE_MS;
  }

  /** Stores the turn and passes on small arguments. Returns the duplicate if one was stored meanwhile. */
  private async insert(accepted: AcceptedTurn, areSmall: boolean): Promise<Turn> {
    const { callArguments, batches, results, turn: insertedTurn } = accepted;
    await Promise.all(batches.map((batch) => this.patches.insert(batch)));
    const { turn, events } = this.claimAtOnce(accepted);
    const drafts = events.map((event) => auditDraft(turn, event, turn.acceptedAt));
    const stored = await this.store
      .insert(turn, callArguments, results, drafts)
      .catch(async (error: unknown) => {
        this.releaseSlots(turn);
        if (error instanceof DomainError && error.code === 'FORBIDDEN') await this.cancelStored(turn);
        throw error;
      });
    if (stored === turn) {
      this.turns.adopt(turn, areSmall ? callArguments : null, drafts);
      return turn;
    }
    this.releaseSlots(turn);
    await Promise.all(batches.map(({ batchId }) => this.patches.remove(insertedTurn.workspaceId, batchId)));
    return sameRequest(stored, insertedTurn.requestHash, 'turnId');
  }

  /** Its user was removed during the store, perhaps after their turns were cancelled. */
  private async cancelStored(turn: Turn): Promise<void> {
    if ((await this.store.versionOf(turn)) === null) return;
    const { userId: byUserId } = turn;
    await this.turns.submit(turn, { type: 'cancel', toolCallId: null, byUserId, why: NO_MEMBER });
  }

  /** If a suitable client is connected, accepting and claiming are one write. */
  private claimAtOnce(accepted: AcceptedTurn): Pick<AcceptedTurn, 'turn' | 'events'> {
    let { turn } = accepted;
    const events = [...accepted.events];
    for (const call of accepted.turn.calls) {
      const claim = call.status === 'pending' ? this.dispatcher.reserve(turn, call) : null;
      if (claim === null) continue;
      const step = advance(turn, claim, turn.acceptedAt, this.node.value);
      turn = step.turn;
      events.push(...step.events);
    }
    return { turn, events };
  }

  /** Releases the slots of a turn that was not stored. */
  private releaseSlots(turn: Turn): void {
    for (const { callId, clientId } of turn.calls) {
      if (clientId !== null) this.dispatcher.release(turn, callId, clientId);
    }
  }
}

/** The known turn if the request equals the one that created it; else CONFLICT. */
function sameRequest(known: Turn, requestHash: string, by: 'turnId' | 'Idempotency-Key'): Turn {
  if (known.requestHash === requestHash) return known;
  throw usedForAnother(by);
}

function usedForAnother(name: 'turnId' | 'Idempotency-Key'): DomainError {
  return new DomainError(
    'CONFLICT',
    `This ${name} was used for another turn; send new calls under a new one.`,
  );
}
