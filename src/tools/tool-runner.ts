import type { Json, JsonObject, ToolContract } from '@patchbay/protocol';
import { readCloudPath } from '../files/cloud-path.js';
import type { ServerTool, ToolContext } from './server-tool.js';
import { faultsFrom, type SchemaFault, SchemaCheck, throwIfFaulty } from './tool-schemas.js';

/** How a server tool ended. A tool that reports failure in its result has both, the payload and the error. */
export interface ToolOutcome {
  result: JsonObject;
  error: { code: string; message: string } | null;
}

/** Runs the server's tools: one door for calls of a turn and for direct ones. */
export class ToolRunner {
  /** In the order of the catalog. */
  readonly contracts: readonly ToolContract[];
  private readonly tools = new Map<string, { tool: ServerTool; request: SchemaCheck }>();

  constructor(tools: readonly ServerTool[]) {
    this.contracts = [...tools].sort(inOrder).map(({ contract }) => contract);
    for (const tool of tools) {
      this.tools.set(tool.contract.name, { tool, request: new SchemaCheck(tool.contract.requestSchema) });
    }
  }

  /** The contract of a server tool; null where there is none of this name. */
  find(name: string): ToolContract | null {
    return this.tools.get(name)?.tool.contract ?? null;
  }

  /** What is wrong with the arguments of a call, by its schema and beyond it. The tool must exist. */
  faultsOf(name: string, args: Json | undefined): SchemaFault[] {
    const { tool, request } = this.tools.get(name)!;
    const faults = request.faultsOf(args);
    const paths = tool.pathArguments ?? [];
    const pathFaults = paths.flatMap((argument) => {
      const path = (args as JsonObject | null | undefined)?.[argument];
      return typeof path === 'string' && path !== '' ? faultsFrom(() => readCloudPath(path, argument)) : [];
    });
    const beyond = faults.length === 0 ? (tool.faultsOf?.(args as JsonObject) ?? []) : [];
    return [...faults, ...pathFaults, ...beyond];
  }

  /** Runs a tool, which must exist. VALIDATION_ERROR names faulty arguments by their bare name. */
  async run(name: string, args: Json | undefined, context: ToolContext): Promise<ToolOutcome> {
    throwIfFaulty(this.faultsOf(name, args));
    const result = await this.tools.get(name)!.tool.execute(args as JsonObject, context);
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
