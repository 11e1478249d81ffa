import { Injectable } from '@nestjs/common';
import { createFile, type Json, type ToolContract, writePatch } from '@patchbay/protocol';
import { ToolRunner } from '../tools/tool-runner.js';
import { type SchemaFault, SchemaCheck } from '../tools/tool-schemas.js';

/** Tools that run on the user's machine. */
const CLIENT_TOOLS: readonly ToolContract[] = [createFile, writePatch];

/** The tools on offer: their contracts, and whether arguments and results keep to them. */
@Injectable()
export class CatalogService {
  private readonly tools = new Map<string, CompiledTool>();

  constructor(private readonly runner: ToolRunner) {
    for (const contract of [...runner.contracts, ...CLIENT_TOOLS]) {
      this.tools.set(contract.name, new CompiledTool(contract));
    }
  }

  find(name: string): ToolContract | null {
    return this.tools.get(name)?.contract ?? null;
  }

  list(): ToolContract[] {
    return [...this.tools.values()].map(({ contract }) => contract);
  }

  /** What is wrong with the arguments of a call; nothing where there is no such tool, or no longer. */
  argumentFaults(name: string, args: Json): SchemaFault[] {
    const tool = this.tools.get(name);
    if (tool?.contract.executionLocation === 'server') return this.runner.faultsOf(name, args);
    return tool?.request.faultsOf(args) ?? [];
  }

  /** What is wrong with a result that a client sent; the same. */
  resultFaults(name: string, result: Json): SchemaFault[] {
    return this.tools.get(name)?.response.faultsOf(result) ?? [];
  }
}

class CompiledTool {
  readonly request: SchemaCheck;
  readonly response: SchemaCheck;

  constructor(readonly contract: ToolContract) {
    this.request = new SchemaCheck(contract.requestSchema);
    this.response = new SchemaCheck(contract.responseSchema);
  }
}
