import {
  auditToolName,
  isWellFormedJson,
  type Json,
  type JsonCount,
  lossIn,
  shortText,
  type ToolContract,
  type ToolOffer,
} from '@patchbay/protocol';
import { digestOf } from '../../common/digest.js';
import type { CallSubject } from '../../storage/ports/turn.js';
import { faultsBeyondSchema } from '../argument-faults.js';
import { subjectOf } from '../call-subject.js';
import { type ReadArguments, readArguments } from '../parsed-texts.js';
import { SchemaCheck } from '../schema-check.js';
import type { ToolDefinition } from '../tool.js';
import { MAX_FAULTS, MAX_NAME, type SchemaFault } from '../tool-schemas.js';

/** A tool compiled under one contract: checks arguments and results. */
export class Tool {
  /** The client that brings the tool; null: it is built in. */
  readonly offeredBy: ToolOffer | null = null;
  /** false: its program is not running, so its calls wait. */
  readonly isAvailable: boolean = true;
  /** Default timeouts of its calls, ms; those of a turn win. */
  readonly timeouts: { approvalMs?: number; executionMs?: number } = {};
  private readonly request: SchemaCheck;
  private readonly response: SchemaCheck;

  /** @param contract an earlier contract of accepted calls; arguments are checked against it alone */
  constructor(
    readonly definition: ToolDefinition,
    readonly contract: ToolContract = definition.contract,
    /** Identifies the contract: its sha256. */
    readonly digest = digestOf(contract),
  ) {
    this.request = new SchemaCheck(contract.requestSchema);
    this.response = new SchemaCheck(contract.responseSchema);
  }

  /** Faults of a call's arguments. */
  argumentFaults(args: Json): SchemaFault[] | Promise<SchemaFault[]> {
    return this.faultsIn(args);
  }

  /** The arguments of a call as they are stored, and their faults. */
  readArguments(args: Json, count: JsonCount): ReadArguments | Promise<ReadArguments> {
    return readArguments((value) => this.faultsIn(value), this.contract.requestSchema, args, count);
  }

  /** The tool's part of its event names. */
  get auditName(): string {
    return auditToolName(this.contract.name, this.contract.category);
  }

  private faultsIn(args: Json): SchemaFault[] {
    const halves = halvesIn(args);
    if (halves.length > 0) return halves;
    const faults = [...repeatedNamesIn(args), ...this.request.faultsOf(args)];
    if (this.contract !== this.definition.contract) return faults;
    return [...faults, ...faultsBeyondSchema(this.definition, args, faults.length === 0)];
  }

  /** Faults of a client's result. */
  resultFaults(result: Json): SchemaFault[] | Promise<SchemaFault[]> {
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
export function halvesIn(args: Json): SchemaFault[] {
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
