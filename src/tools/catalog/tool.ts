import { isWellFormedJson, type Json, lossIn, shortText, type ToolContract } from '@patchbay/protocol';
import { digestOf } from '../../common/digest.js';
import type { CallSubject } from '../../storage/ports/turn.js';
import { faultsBeyondSchema } from '../argument-faults.js';
import { subjectOf } from '../call-subject.js';
import { SchemaCheck } from '../schema-check.js';
import type { ToolDefinition } from '../tool.js';
import { MAX_FAULTS, MAX_NAME, type SchemaFault } from '../tool-schemas.js';

/** A tool compiled under one contract: checks arguments and results. */
export class Tool {
  /** sha256 of the whole contract. */
  readonly digest: string;
  private readonly request: SchemaCheck;
  private readonly response: SchemaCheck;

  /** @param contract an earlier contract of accepted calls; arguments are checked against it alone */
  constructor(
    readonly definition: ToolDefinition,
    readonly contract: ToolContract = definition.contract,
  ) {
    this.digest = digestOf(contract);
    this.request = new SchemaCheck(contract.requestSchema);
    this.response = new SchemaCheck(contract.responseSchema);
  }

  /** Faults of a call's arguments. */
  argumentFaults(args: Json): SchemaFault[] {
    const halves = halvesIn(args);
    if (halves.length > 0) return halves;
    const faults = [...repeatedNamesIn(args), ...this.request.faultsOf(args)];
    if (this.contract !== this.definition.contract) return faults;
    return [...faults, ...faultsBeyondSchema(this.definition, args, faults.length === 0)];
  }

  /** Faults of a client's result. */
  resultFaults(result: Json): SchemaFault[] {
    return this.response.faultsOf(result);
  }

  /** What the audit events of a call record about its arguments, which may break the schema. */
  subjectOf(args: Json): CallSubject {
    return subjectOf(this.definition, args);
  }

  /** Arguments of a client tool that are paths in the user's folders; they may break the schema. */
  clientPathsIn(args: Json): string[] {
    if (this.contract.executionLocation !== 'client' || typeof args !== 'object' || Array.isArray(args))
      return [];
    const paths = (this.definition.pathArguments ?? []).map((argument) => args?.[argument]);
    return paths.filter((path) => typeof path === 'string');
  }

  /** Whether its calls depend on the user's folders: they name them, or change the Cloud's copy of their files. */
  get concernsFolders(): boolean {
    const { definition } = this;
    if (definition.changesCloud !== undefined || definition.prepare !== undefined) return true;
    return this.contract.executionLocation === 'client' && definition.pathArguments !== undefined;
  }
}

/** Faults for objects with a duplicate name: the person must see exactly what runs. */
export function repeatedNamesIn(args: Json): SchemaFault[] {
  if (typeof args !== 'object' || args === null) return [];
  return Object.keys(args).flatMap((name) => {
    const loss = lossIn(args, name, 'name');
    if (loss === null) return [];
    return { path: `/${shortText(name, MAX_NAME)}`, code: 'content', message: `holds ${loss}` };
  });
}

/** Faults for lone surrogates, which cannot be sent as UTF-8. */
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
