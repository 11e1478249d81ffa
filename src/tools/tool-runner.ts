import type { Json, JsonObject } from '@patchbay/protocol';
import type { ServerTool, ToolContext } from './server-tool.js';

/** How a server tool ended. A tool that reports failure in its result has both, the payload and the error. */
export interface ServerToolOutcome {
  result: JsonObject;
  error: { code: string; message: string } | null;
}

/** Runs the server's tools: one door for calls of a turn and for direct ones. */
export class ToolRunner {
  /** In the order of the catalog. */
  readonly tools: readonly ServerTool[];
  private readonly byName: ReadonlyMap<string, ServerTool>;

  constructor(tools: readonly ServerTool[]) {
    this.tools = [...tools].sort(inOrder);
    this.byName = new Map(tools.map((tool) => [tool.contract.name, tool]));
  }

  /** Runs a tool, which must exist, with arguments that its contract finds no fault with. */
  async run(name: string, args: Json, context: ToolContext): Promise<ServerToolOutcome> {
    const result = await this.byName.get(name)!.execute(args as JsonObject, context);
    if (result.success !== false) return { result, error: null };
    const { errorCode, message } = result as { errorCode: string; message: string };
    return { result, error: { code: errorCode, message } };
  }
}

function inOrder(a: ServerTool, b: ServerTool): number {
  const [first, second] = [a.order ?? Infinity, b.order ?? Infinity];
  if (first !== second) return first - second;
  return a.contract.name < b.contract.name ? -1 : 1;
}
