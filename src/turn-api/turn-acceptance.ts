import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { PatchStore } from '../storage/ports/patches.store.js';
import type { SessionRecord } from '../storage/ports/sessions.store.js';
import { TurnStore } from '../storage/ports/turns.store.js';
import { auditDraft } from '../turns/audit-drafts.js';
import { Deliveries } from '../delivery/deliveries.js';
import { Dispatcher } from '../delivery/dispatcher.js';
import { OpenTurns } from '../turns/open-turns.js';
import { ServerCalls } from './server-calls.js';
import { SessionClients } from '../delivery/session-clients.js';
import type { Turn } from '../storage/ports/turn.js';
import type { AcceptedTurn, TurnName } from './turn-builder.js';
import type { TurnEffect } from '../turns/turn-draft.js';
import { advance } from '../turns/turn-state.js';

/** How long an idempotency key counts, in ms. */
const KEY_LIFE_MS = 24 * 60 * 60_000;

/** Stores a new turn, with whatever can be claimed at once, and sets it going; or finds the turn that it repeats. */
@Injectable()
export class TurnAcceptance {
  constructor(
    private readonly store: TurnStore,
    private readonly patches: PatchStore,
    private readonly turns: OpenTurns,
    private readonly dispatcher: Dispatcher,
    private readonly deliveries: Deliveries,
    private readonly serverCalls: ServerCalls,
    private readonly sessionClients: SessionClients,
    private readonly config: Config,
    private readonly clock: Clock,
  ) {}

  /** The turn that the same request made before; CONFLICT where the name was used for another request. */
  async findRepeated(session: SessionRecord, name: TurnName, requestHash: string): Promise<Turn | null> {
    const { workspaceId, id: sessionId, userId } = session;
    const { turnId, idempotencyKey } = name;
    const byTurnId = turnId === null ? null : await this.store.find({ workspaceId, sessionId, turnId });
    const byKey =
      idempotencyKey === null
        ? null
        : await this.store.byIdempotencyKey(workspaceId, userId, idempotencyKey, this.keysSince());
    return byTurnId || byKey ? sameTurn(name, requestHash, byTurnId, byKey) : null;
  }

  /** Stores the turn. One that another request has stored under the same name meanwhile is given back instead. */
  async accept(accepted: AcceptedTurn, name: TurnName, session: SessionRecord): Promise<Turn> {
    await this.sessionClients.recall(session.workspaceId, session.id);
    await Promise.all(accepted.batches.map((batch) => this.patches.insert(batch)));
    const claimed = this.claimAtOnce(accepted);
    const stored = await this.insert(claimed, name).catch((error: unknown) => {
      this.giveBack(claimed.turn);
      throw error;
    });
    if (stored === claimed.turn) {
      this.serverCalls.start(stored, accepted.callArguments);
      return stored;
    }
    this.giveBack(claimed.turn);
    await Promise.all(
      accepted.batches.map(({ batchId }) => this.patches.remove(session.workspaceId, batchId)),
    );
    return stored;
  }

  private async insert(claimed: ClaimedTurn, name: TurnName): Promise<Turn> {
    const { turn, callArguments, effects } = claimed;
    const events = claimed.events.map((event) => auditDraft(turn, event, turn.acceptedAt));
    const limits = { maxOpenTurns: this.config.maxOpenTurns, keysSince: this.keysSince() };
    const inserted = await this.store.insert(turn, callArguments, [], events, limits);
    if (inserted.outcome === 'too_many_open') {
      const message = `The workspace has ${limits.maxOpenTurns} open turns; let some end first.`;
      throw new DomainError('RATE_LIMITED', message, { retryAfterSeconds: 5 });
    }
    if (inserted.outcome === 'exists') {
      return sameTurn(name, turn.requestHash, inserted.byTurnId, inserted.byKey);
    }
    this.turns.adopt({ before: claimed.accepted, after: turn, events, effects });
    return turn;
  }

  /** Where a fitting client is connected, accepting and claiming are one write. */
  private claimAtOnce({ turn, callArguments, events }: AcceptedTurn): ClaimedTurn {
    const claimed: ClaimedTurn = { accepted: turn, turn, callArguments, events: [...events], effects: [] };
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

  private keysSince(): number {
    return this.clock.now() - KEY_LIFE_MS;
  }
}

/** A turn as accepted, and as claimed: what is inserted. */
interface ClaimedTurn extends Pick<AcceptedTurn, 'turn' | 'callArguments' | 'events'> {
  accepted: Turn;
  effects: TurnEffect[];
}

/** The known turn, if the request is the one that made it. */
function sameTurn(name: TurnName, requestHash: string, byTurnId: Turn | null, byKey: Turn | null): Turn {
  const known = (byTurnId ?? byKey)!;
  const different =
    byTurnId && byKey && (byTurnId.sessionId !== byKey.sessionId || byTurnId.turnId !== byKey.turnId);
  if (different || (name.turnId !== null && known.turnId !== name.turnId)) {
    throw new DomainError('CONFLICT', 'The Idempotency-Key and the turnId belong to different turns.');
  }
  if (known.requestHash === requestHash) return known;
  const used = byTurnId ? 'turnId' : 'Idempotency-Key';
  throw new DomainError(
    'CONFLICT',
    `This ${used} was used for another turn; send new calls under a new one.`,
  );
}
