import { Injectable, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { ContractStore } from '../../storage/records/contracts.js';
import type { SessionRecord } from '../../storage/records/sessions.js';
import type { Call } from '../../storage/ports/turn.js';
import { BuiltInTools } from '../built-in-tools.js';
import { checkChoice, chosenTools } from './tool-choice.js';
import { Tool } from './tool.js';
import { Toolset } from './toolset.js';

/** Former tools that are kept compiled at most. */
const MAX_FORMER = 100;

/** Knows which tools there are for whom, and which there were. */
@Injectable()
export class CatalogService implements OnModuleInit {
  private readonly tools: readonly Tool[];
  private readonly all: Toolset;
  private readonly byDigest: ReadonlyMap<string, Tool>;
  /** By digest: tools that this process does not offer, but an earlier one did, or another. */
  private readonly former = new LRUCache<string, Tool>({ max: MAX_FORMER });

  constructor(
    private readonly builtIn: BuiltInTools,
    private readonly contracts: ContractStore,
  ) {
    this.tools = builtIn.all.map((tool) => new Tool(tool));
    this.all = new Toolset(this.tools);
    this.byDigest = new Map(this.tools.map((tool) => [tool.digest, tool]));
  }

  /** A contract is stored before its tool is on offer: so a turn can refer to it, and its acceptance writes nothing more. */
  async onModuleInit(): Promise<void> {
    await Promise.all(
      [...this.byDigest].map(([digest, { contract }]) => this.contracts.put(digest, contract)),
    );
  }

  /** The tools that a session may call: those that it has chosen, or all [SESSION-2]; null: outside of any session. */
  toolset(session: SessionRecord | null): Promise<Toolset> {
    const choice = session?.tools ?? null;
    return Promise.resolve(choice === null ? this.all : new Toolset(chosenTools(choice, this.tools)));
  }

  /** VALIDATION_ERROR where a session that is to be made names what there is not. */
  checkChoice(choice: readonly string[]): void {
    checkChoice(choice, this.tools);
  }

  /** The tool of a call, under the contract that the call was accepted under; null where its tool was unknown then. */
  async toolOf({ contractDigest: digest }: Pick<Call, 'contractDigest'>): Promise<Tool | null> {
    if (digest === undefined) return null;
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
