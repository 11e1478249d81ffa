import { isCloudChange } from '@patchbay/protocol';
import type { ServerTool, ToolDefinition } from './tool.js';

/** The tools of this server's own `*.tool` files, in the order of the catalog: the server's before the clients'. */
export class BuiltInTools {
  readonly all: readonly ToolDefinition[];
  private readonly byName: ReadonlyMap<string, ToolDefinition>;

  constructor(tools: readonly ToolDefinition[]) {
    tools.forEach(checkDefinition);
    this.all = [...tools].sort(inOrder);
    this.byName = new Map(tools.map((tool) => [tool.contract.name, tool]));
  }

  get ofServer(): ServerTool[] {
    return this.all.filter((tool) => tool.execute !== undefined) as ServerTool[];
  }

  find(name: string): ToolDefinition | null {
    return this.byName.get(name) ?? null;
  }
}

/** Refuses at the start what would fail at the first call. */
function checkDefinition({ contract, execute, changesCloud }: ToolDefinition): void {
  const { name, executionLocation } = contract;
  if ((executionLocation === 'server') !== (execute !== undefined))
    throw new Error(
      `The tool "${name}" is located on the ${executionLocation}: only a server tool has execute.`,
    );
  if ((changesCloud !== undefined) !== isCloudChange(name))
    throw new Error(
      `"${name}": tools with changesCloud, and they alone, stand in CLOUD_CHANGES of the protocol.`,
    );
}

function inOrder(a: ToolDefinition, b: ToolDefinition): number {
  const [ofServer, ofOther] = [a, b].map(({ execute }) => (execute === undefined ? 1 : 0)) as [
    number,
    number,
  ];
  if (ofServer !== ofOther) return ofServer - ofOther;
  const [first, second] = [a.order ?? Infinity, b.order ?? Infinity];
  if (first !== second) return first - second;
  return a.contract.name < b.contract.name ? -1 : 1;
}
