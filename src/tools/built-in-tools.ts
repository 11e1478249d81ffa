import { isCloudChange } from '@patchbay/protocol';
import type { ServerTool, ToolDefinition } from './tool.js';

/** The tools of this server's `*.tool` files, in catalog order: server tools before client tools. */
export class BuiltInTools {
  readonly all: readonly ToolDefinition[];
  private readonly byName: ReadonlyMap<string, ToolDefinition>;

  constructor(tools: readonly ToolDefinition[]) {
    tools.forEach(checkDefinition);
    this.all = [...tools].sort(inOrder);
    this.byName = new Map(tools.map((tool) => [tool.contract.name, tool]));
  }

  get ofServer(): ServerTool[] {
    return this.all.filter(isServerTool);
  }

  find(name: string): ToolDefinition | null {
    return this.byName.get(name) ?? null;
  }
}

/** Fails at the start for a definition that would fail at the first call. */
function checkDefinition(tool: ToolDefinition): void {
  const { name, executionLocation } = tool.contract;
  if ((executionLocation === 'server') !== isServerTool(tool))
    throw new Error(
      `The tool "${name}" is located on the ${executionLocation}: only a server tool has execute.`,
    );
  if ((tool.changesCloud !== undefined) !== isCloudChange(name))
    throw new Error(
      `"${name}": tools with changesCloud, and they alone, stand in CLOUD_CHANGES of the protocol.`,
    );
}

function isServerTool(tool: ToolDefinition): tool is ServerTool {
  return tool.execute !== undefined;
}

function inOrder(a: ToolDefinition, b: ToolDefinition): number {
  if (isServerTool(a) !== isServerTool(b)) return isServerTool(a) ? -1 : 1;
  const [first, second] = [a.order ?? Infinity, b.order ?? Infinity];
  if (first !== second) return first - second;
  return a.contract.name < b.contract.name ? -1 : 1;
}
