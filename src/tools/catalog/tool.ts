import { isWellFormedJson, type Json, lossIn, shortText, type ToolContract } from '@patchbay/protocol';
import { digestOf } from '../../common/digest.js';
import type { CallSubject } from '../../storage/ports/turn.js';
import { faultsBeyondSchema } from '../argument-faults.js';
import { subjectOf } from '../call-subject.js';
import { SchemaCheck } from '../schema-check.js';
import type { ToolDefinition } from '../tool.js';
import { MAX_FAULTS, MAX_NAME, type SchemaFault } from '../tool-schemas.js';

/** A tool under one contract, compiled: what is wrong with arguments and results under it, and what else is known of the tool. */
export class Tool {
  /** sha256 that names the contract, all of it, for good. */
  readonly digest: string;
  private readonly request: SchemaCheck;
  private readonly response: SchemaCheck;

  /** @param contract an earlier one, under which calls were accepted; arguments are held to that alone then */
  constructor(
    readonly definition: ToolDefinition,
    readonly contract: ToolContract = definition.contract,
  ) {
    this.digest = digestOf(contract);
    this.request = new SchemaCheck(contract.requestSchema);
    this.response = new SchemaCheck(contract.responseSchema);
  }

  /** What is wrong with the arguments of a call. */
  argumentFaults(args: Json): SchemaFault[] {
    const halves = halvesIn(args);
    if (halves.length > 0) return halves;
    const faults = [...repeatedNamesIn(args), ...this.request.faultsOf(args)];
    if (this.contract !== this.definition.contract) return faults;
    return [...faults, ...faultsBeyondSchema(this.definition, args, faults.length === 0)];
  }

  /** What is wrong with a result that a client sent. */
  resultFaults(result: Json): SchemaFault[] {
    return this.response.faultsOf(result);
  }

  /** What the audit events of a call say of its arguments, which may break the schema. */
  subjectOf(args: Json): CallSubject {
    return subjectOf(this.definition, args);
  }

  /** Paths in the user's folders among the arguments of a client tool, which may break the schema. */
  clientPathsIn(args: Json): string[] {
    if (this.contract.executionLocation !== 'client' || typeof args !== 'object' || Array.isArray(args))
      return [];
    const paths = (this.definition.pathArguments ?? []).map((argument) => args?.[argument]);
    return paths.filter((path) => typeof path === 'string');
  }

  /** Whether the user's folders matter to its calls: it may name them, or change the Cloud's copy of what lies in one. */
  get concernsFolders(): boolean {
    const { definition } = this;
    if (definition.changesCloud !== undefined || definition.prepare !== undefined) return true;
    return this.contract.executionLocation === 'client' && definition.pathArguments !== undefined;
  }
}

/** Arguments that hold an object with one name twice: what the person sees and what is run must be what was sent. */
export function repeatedNamesIn(args: Json): SchemaFault[] {
  if (typeof args !== 'object' || args === null) return [];
  return Object.keys(args).flatMap((name) => {
    const loss = lossIn(args, name, 'name');
    if (loss === null) return [];
    return { path: `/${shortText(name, MAX_NAME)}`, code: 'content', message: `holds ${loss}` };
  });
}

/** Arguments that hold half of a surrogate pair: no client could be sent them, and no reader of UTF-8 an answer with them. */
function halvesIn(args: Json): SchemaFault[] {
  if (typeof args !== 'object' || args === null || isWellFormedJson(args)) return [];
  return Object.entries(args)
    .filter((argument) => !isWellFormedJson(argument))
    .slice(0, MAX_FAULTS)
    .map(([name]) => ({
      path: `/${shortText(name, MAX_NAME)}`,
      code: 'content',
      message: 'holds a lone surrogate',
    }));
}
