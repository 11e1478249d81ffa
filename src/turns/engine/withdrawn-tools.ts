import { Injectable } from '@nestjs/common';
import type { ConnectedClient } from '../../clients/connected-clients.js';
import type { Call, Turn } from '../../storage/ports/turn.js';
import { ClientOffers } from '../../tools/custom/client-offers.js';
import { isInFlight } from '../state/turn-state.js';
import { OpenTurns } from './open-turns.js';

/** Settles the calls of custom tools that their client came back without [CUSTOM-9]. */
@Injectable()
export class WithdrawnTools {
  constructor(
    private readonly turns: OpenTurns,
    private readonly offers: ClientOffers,
  ) {}

  /** Moves or ends the calls of this client whose contract it does not offer. `turns`: the open turns of its user. */
  async settle(client: ConnectedClient, turns: readonly Turn[]): Promise<void> {
    const { clientId } = client.key;
    const offered = new Set(client.offered.map(({ digest }) => digest));
    const lost = turns
      .map((turn) => ({
        turn,
        callIds: turn.calls.filter((call) => isLost(call, clientId, offered)).map(({ callId }) => callId),
      }))
      .filter(({ callIds }) => callIds.length > 0);
    if (lost.length === 0) return;
    const elsewhere = await this.offers.digestsOfOthers(client.key);
    await Promise.all(
      lost.map(({ turn, callIds }) =>
        this.turns.submit(turn, { type: 'withdraw', clientId, callIds, elsewhere }),
      ),
    );
  }
}

/** An open call that the client holds or that waits for it, under a contract that it does not offer. */
function isLost(call: Call, clientId: string, offered: ReadonlySet<string>): boolean {
  if (call.offer === undefined || call.endedAt !== null || offered.has(call.contractDigest!)) return false;
  return isInFlight(call) ? call.clientId === clientId : call.offer.clientId === clientId;
}
