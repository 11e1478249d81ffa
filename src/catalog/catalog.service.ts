import { Injectable } from '@nestjs/common';
import { createFile, type Json, type ToolContract, writePatch } from '@patchbay/protocol';
import { type SchemaFault, SchemaCheck } from './tool-schemas.js';

/** The tools on offer: their contracts, and whether arguments and results keep to them. */
@Injectable()
export class CatalogService {
  private readonly tools = new Map<string, CompiledTool>();

  constructor() {
    for (const contract of [createFile, writePatch])
      this.tools.set(contract.name, new CompiledTool(contract));
  }

  find(name: string): ToolContract | null {
    return this.tools.get(name)?.contract ?? null;
  }

  list(): ToolContract[] {
    return [...this.tools.values()].map(({ contract }) => contract);
  }

  /** What is wrong with the arguments of a call. The tool must exist. */
  argumentFaults(name: string, args: Json): SchemaFault[] {
    return this.tools.get(name)!.request.faultsOf(args);
  }

  /** What is wrong with a result that a client sent. The tool must exist. */
  resultFaults(name: string, result: Json): SchemaFault[] {
    return this.tools.get(name)!.response.faultsOf(result);
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
