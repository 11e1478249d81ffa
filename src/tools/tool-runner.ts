import { Injectable } from '@nestjs/common';
import type { Json, JsonObject, ToolContract } from '@patchbay/protocol';
import { DomainError, type FieldFaults } from '../common/domain-error.js';
import type { ServerTool, ToolContext } from './server-tool.js';
import { type SchemaFault, SchemaCheck } from './tool-schemas.js';
import { ToolRegistry } from './tool-registry.js';

/** How a server tool ended. A tool that reports failure in its result has both, the payload and the error. */
export interface ToolOutcome {
  result: JsonObject;
  error: { code: string; message: string } | null;
}

const MAX_NAME = 64;

/** Runs the server's tools: one door for calls of a turn and for direct ones. */
@Injectable()
export class ToolRunner {
  private readonly tools = new Map<string, { tool: ServerTool; request: SchemaCheck }>();

  constructor(registry: ToolRegistry) {
    for (const tool of registry.tools) {
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
    return faults.length > 0 ? faults : (tool.faultsOf?.(args as JsonObject) ?? []);
  }

  /** Runs a tool, which must exist. VALIDATION_ERROR names faulty arguments by their bare name. */
  async run(name: string, args: Json | undefined, context: ToolContext): Promise<ToolOutcome> {
    const faults = this.faultsOf(name, args);
    if (faults.length > 0) throw argumentError(faults);
    const result = await this.tools.get(name)!.tool.execute(args as JsonObject, context);
    if (result.success !== false) return { result, error: null };
    const { errorCode, message } = result as { errorCode: string; message: string };
    return { result, error: { code: errorCode, message } };
  }
}

function argumentError(faults: readonly SchemaFault[]): DomainError {
  // Without a prototype, so that `__proto__` is a name like any other.
  const fields = Object.create(null) as FieldFaults;
  for (const { path, message } of faults) fields[argumentName(path)] ??= message;
  const [[field, fault] = ['args', 'is not valid']] = Object.entries(fields);
  const others = Object.keys(fields).length - 1;
  const more = others > 0 ? ` (and ${others} more)` : '';
  return new DomainError('VALIDATION_ERROR', `${field} ${fault}${more}`, { fields });
}

/** `/activeFiles/0/docPath` as `activeFiles[0].docPath`; the arguments themselves are `args`. */
function argumentName(pointer: string): string {
  if (pointer === '') return 'args';
  const name = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part, at) => (/^\d+$/.test(part) ? `[${part}]` : at === 0 ? part : `.${part}`))
    .join('');
  return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name;
}
