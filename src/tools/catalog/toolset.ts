import type { ToolContract } from '@patchbay/protocol';
import type { Tool } from './tool.js';

/** The tools that can be called in one place, in catalog order. */
export class Toolset {
  private readonly byName = new Map<string, Tool>();

  constructor(tools: readonly Tool[]) {
    for (const tool of tools) {
      const { name } = tool.contract;
      if (this.byName.has(name)) throw new Error(`There are two tools "${name}".`);
      this.byName.set(name, tool);
    }
  }

  find(name: string): Tool | null {
    return this.byName.get(name) ?? null;
  }

  get contracts(): ToolContract[] {
    return [...this.byName.values()].map(({ contract }) => contract);
  }
}
