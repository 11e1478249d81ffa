import { Injectable, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { ContractStore } from '../../storage/records/contracts.js';
import type { SessionRecord } from '../../storage/records/sessions.js';
import type { Call } from '../../storage/ports/turn.js';
import { BuiltInTools } from '../built-in-tools.js';
import { ClientOffers } from '../custom/client-offers.js';
import { checkChoice, chosenTools } from './tool-choice.js';
import { Tool } from './tool.js';
import { Toolset } from './toolset.js';

/** Former tools that stay compiled. */
const MAX_FORMER = 100;

/** Knows the current and former tools, and which of them a session offers. */
@Injectable()
export class CatalogService implements OnModuleInit {
  private readonly tools: readonly Tool[];
  private readonly all: Toolset;
  private readonly byDigest: ReadonlyMap<string, Tool>;
  /** Tools of earlier or other processes, by contract digest. */
  private readonly former = new LRUCache<string, Tool>({ max: MAX_FORMER });

  constructor(
    private readonly builtIn: BuiltInTools,
    private readonly contracts: ContractStore,
    private readonly offers: ClientOffers,
  ) {
    this.tools = builtIn.all.map((tool) => new Tool(tool));
    this.all = new Toolset(this.tools);
    this.byDigest = new Map(this.tools.map((tool) => [tool.digest, tool]));
  }

  /** Stores each contract before its tool is offered, so that accepting a turn writes no contract. */
  async onModuleInit(): Promise<void> {
    await Promise.all(
      [...this.byDigest].map(([digest, { contract }]) => this.contracts.put(digest, contract)),
    );
  }

  /** The built-in tools of a session: its choice, or all [SESSION-2]; null: no session. */
  toolset(session: SessionRecord | null): Promise<Toolset> {
    const choice = session?.tools ?? null;
    return Promise.resolve(choice === null ? this.all : new Toolset(chosenTools(choice, this.tools)));
  }

  /** VALIDATION_ERROR if a new session's choice names what can be no tool. */
  checkChoice(choice: readonly string[]): void {
    checkChoice(choice, this.builtIn);
  }

  /** The tools of a session, including those that clients of its user bring [CUSTOM-5]. */
  async fullToolset(session: SessionRecord): Promise<Toolset> {
    const { tools, away } = await this.offers.of(session);
    const all = [...this.tools, ...tools];
    return new Toolset(session.tools === null ? all : chosenTools(session.tools, all), away);
  }

  /** The tools of a session that these calls need: clients are looked at only for a call of another tool. */
  toolsetFor(session: SessionRecord, calls: readonly { name: string }[]): Promise<Toolset> {
    const isBuiltIn = calls.every(({ name }) => this.builtIn.find(name) !== null);
    return isBuiltIn ? this.toolset(session) : this.fullToolset(session);
  }

  /** The tool of a call under the contract at its acceptance; null if the tool was unknown then. */
  async toolOf(
    { contractDigest: digest, offer }: Pick<Call, 'contractDigest' | 'offer'>,
    userId: string,
  ): Promise<Tool | null> {
    if (digest === undefined) return null;
    if (offer !== undefined) return this.offers.toolOf(digest, userId);
    return this.byDigest.get(digest) ?? this.former.get(digest) ?? (await this.recall(digest));
  }

  private async recall(digest: string): Promise<Tool> {
    const contract = await this.contracts.byDigest(digest);
    if (contract === null) throw new Error(`The contract ${digest} is not stored.`);
    const tool = new Tool(this.builtIn.find(contract.name) ?? { contract }, contract);
    this.former.set(digest, tool);
    return tool;
  }
}
