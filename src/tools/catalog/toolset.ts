import type { ToolContract } from '@patchbay/protocol';
import type { Tool } from './tool.js';

/** The tools that can be called in one place, in catalog order. */
export class Toolset {
  private readonly byName = new Map<string, Tool>();

  /** @param away by name: who offered a tool last that no client offers now */
  constructor(
    tools: readonly Tool[],
    private readonly away: ReadonlyMap<string, string> = new Map(),
  ) {
    for (const tool of tools) {
      const { name } = tool.contract;
      if (this.byName.has(name)) throw new Error(`There are two tools "${name}".`);
      this.byName.set(name, tool);
    }
  }

  find(name: string): Tool | null {
    return this.byName.get(name) ?? null;
  }

  /** A sentence about the client that offered a tool last which is not here; null if there was none. */
  lastOfferOf(name: string): string | null {
    return this.byName.has(name) ? null : (this.away.get(name) ?? null);
  }

  /** The tools on offer: those whose client says that they are available, and all built-in ones. */
  get onOffer(): Tool[] {
    return [...this.byName.values()].filter(({ isAvailable }) => isAvailable);
  }

  get contracts(): ToolContract[] {
    return this.onOffer.map(({ contract }) => contract);
  }
}
