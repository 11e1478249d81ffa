import { Injectable } from '@nestjs/common';
import type { ToolContract } from '@patchbay/protocol';
import { LRUCache } from 'lru-cache';
import { type ClientKey, ConnectedClients } from '../../clients/connected-clients.js';
import type { KnownClient } from '../../clients/known-client.js';
import { Presence } from '../../clients/presence.js';
import { Clock, isoTime } from '../../common/clock.js';
import { Config } from '../../config/config.js';
import { WorkPool } from '../../jobs/work-pool.js';
import type { Membership } from '../../storage/ports/turn.js';
import { TurnStore } from '../../storage/ports/turns.store.js';
import type { ClientOffer } from '../../storage/records/clients.js';
import { ContractStore } from '../../storage/records/contracts.js';
import type { SessionRecord } from '../../storage/records/sessions.js';
import { CustomTool } from './custom-tool.js';
import { CustomTools } from './custom-tools.js';
import type { CustomToolDto } from './custom-tools.dto.js';

/** Characters of the contracts that stay in memory: one may have a hundred thousand. */
const MAX_CHARS = 32 * 1024 * 1024;

/** The custom tools of a session, and by name who offered one last that nobody offers now. */
export interface SessionOffers {
  tools: CustomTool[];
  away: Map<string, string>;
}

/** What the clients of a user offer, on all nodes. */
@Injectable()
export class ClientOffers {
  private readonly known = new LRUCache<string, ToolContract>({
    maxSize: MAX_CHARS,
    sizeCalculation: (contract) => JSON.stringify(contract).length,
  });

  constructor(
    private readonly custom: CustomTools,
    private readonly presence: Presence,
    private readonly clients: ConnectedClients,
    private readonly contracts: ContractStore,
    private readonly turns: TurnStore,
    private readonly pool: WorkPool,
    private readonly clock: Clock,
    private readonly config: Config,
  ) {}

  /** Checks and stores the tools that a client announces. */
  take(client: ClientKey, tools: readonly CustomToolDto[]): Promise<ClientOffer[]> {
    return this.custom.take(tools, client.userId, () => this.bytesOfOthers(client));
  }

  /**
   * The custom tools of a session. Of two contracts with one name that of the session's client counts, else that of the
   * client that connected last [CUSTOM-6].
   */
  async of(session: SessionRecord): Promise<SessionOffers> {
    const { workspaceId, userId, id } = session;
    const all = await this.presence.ofUser(workspaceId, userId);
    const own = session.clientId ?? (await this.turns.lastUseOf(workspaceId, id))?.lastClientId ?? null;
    const byRank = all
      .filter((client) => this.isHere(client))
      .sort(
        (a, b) => Number(b.clientId === own) - Number(a.clientId === own) || b.connectedAt - a.connectedAt,
      );
    const chosen = new Map<string, Promise<CustomTool>>();
    for (const client of byRank)
      for (const offer of client.tools)
        if (!chosen.has(offer.name)) chosen.set(offer.name, this.toolOfOffer(client, offer));
    const tools = await Promise.all(chosen.values());
    return { tools: tools.sort((a, b) => (a.contract.name < b.contract.name ? -1 : 1)), away: awayIn(all) };
  }

  /** The tool of a call that was accepted under the digest. */
  async toolOf(digest: string, userId: string): Promise<CustomTool> {
    return new CustomTool(await this.contractOf(digest), digest, null, true, userId, this.pool);
  }

  /** Digests that the user's other clients offer, connected or within the grace. */
  async digestsOfOthers({ workspaceId, userId, clientId }: ClientKey): Promise<Set<string>> {
    const others = (await this.presence.ofUser(workspaceId, userId)).filter(
      (client) => client.clientId !== clientId && this.isHere(client),
    );
    return new Set(others.flatMap(({ tools }) => tools.map(({ digest }) => digest)));
  }

  /** Connected, or left within the grace. */
  private isHere({ leftAt }: KnownClient): boolean {
    return leftAt === null || this.clock.now() - leftAt <= this.config.graceMs;
  }

  /** Bytes of the contracts of the user's other clients, those included that have not resumed yet. */
  private async bytesOfOthers({ workspaceId, userId, clientId }: ClientKey): Promise<number> {
    const user: Membership = { workspaceId, userId };
    const offers = new Map<string, readonly ClientOffer[]>();
    for (const client of await this.presence.ofUser(user.workspaceId, user.userId))
      if (this.isHere(client)) offers.set(client.clientId, client.tools);
    for (const { key, offered } of this.clients.ofUser(workspaceId, userId))
      offers.set(key.clientId, offered);
    offers.delete(clientId);
    return [...offers.values()].flat().reduce((sum, { bytes }) => sum + bytes, 0);
  }

  private async toolOfOffer(
    client: KnownClient,
    { digest, version, isAvailable }: ClientOffer,
  ): Promise<CustomTool> {
    const { clientId, name, leftAt } = client;
    const offeredBy = { clientId, name, isConnected: leftAt === null };
    const contract = await this.contractOf(version);
    return new CustomTool(contract, digest, offeredBy, isAvailable, client.userId, this.pool);
  }

  private async contractOf(key: string): Promise<ToolContract> {
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const contract = await this.contracts.byDigest(key);
    if (contract === null) throw new Error(`The contract ${key} is not stored.`);
    this.known.set(key, contract);
    return contract;
  }
}

/** By tool name: the client that offered it last. */
function awayIn(clients: readonly KnownClient[]): Map<string, string> {
  const away = new Map<string, string>();
  const byLeaving = clients.filter(({ leftAt }) => leftAt !== null).sort((a, b) => b.leftAt! - a.leftAt!);
  for (const { clientId, name, leftAt, tools } of byLeaving) {
    const last = `The client "${name}" (${clientId}) offered it last and left at ${isoTime(leftAt!)}.`;
    for (const tool of tools) if (!away.has(tool.name)) away.set(tool.name, last);
  }
  return away;
}
