import { Injectable } from '@nestjs/common';
import { type JsonSchema, MAX_CUSTOM_TOOLS, type ToolContract } from '@patchbay/protocol';
import { LRUCache } from 'lru-cache';
import { digestOf } from '../../common/digest.js';
import { DomainError, type FieldFaults, fieldError, throwIfAny } from '../../common/domain-error.js';
import { Config } from '../../config/config.js';
import { WorkPool } from '../../jobs/work-pool.js';
import type { ClientOffer } from '../../storage/records/clients.js';
import { ContractStore } from '../../storage/records/contracts.js';
import { BuiltInTools } from '../built-in-tools.js';
import type { CustomToolDto } from './custom-tools.dto.js';
import { COMPILE_SCHEMAS } from './schema-jobs.js';
import { eventNameOf, nameFault } from './tool-names.js';

const KIB = 1024;
const MAX_SCHEMA_BYTES = 32 * KIB;
/** All contracts of one client, and of all clients of a user. */
const MAX_CLIENT_BYTES = 512 * KIB;
const MAX_USER_BYTES = 4096 * KIB;
/** Schemas that are known to compile, and contracts that are known to be stored. */
const MAX_SOUND = 10_000;
/** Bytes of contracts that a user may add within this time, ms: stored ones stay, since calls refer to them. */
const MAX_NEW_BYTES = 2 * MAX_USER_BYTES;
const NEW_MS = 3_600_000;
const SCHEMAS = ['requestSchema', 'responseSchema'] as const;

/** Checks and stores the contracts of the tools that clients bring. */
@Injectable()
export class CustomTools {
  /** Digests of schemas that were compiled, so that a reconnect costs nothing. */
  private readonly sound = new LRUCache<string, true>({ max: MAX_SOUND });
  private readonly stored = new LRUCache<string, true>({ max: MAX_SOUND });
  /** By user: bytes added since the first one within the time. */
  private readonly added = new LRUCache<string, number>({ max: MAX_SOUND, ttl: NEW_MS, noUpdateTTL: true });

  constructor(
    private readonly builtIn: BuiltInTools,
    private readonly contracts: ContractStore,
    private readonly pool: WorkPool,
    private readonly config: Config,
  ) {}

  /** VALIDATION_ERROR that names every entry of a handshake's `tools` that is no built-in tool [CUSTOM-2]. */
  checkBuiltIn(names: readonly string[]): void {
    const fields: FieldFaults = {};
    names.forEach((name, at) => {
      if (this.builtIn.find(name) !== null) return;
      fields[`tools[${at}]`] = `"${name}" is not a built-in tool; offer your own tools in customTools`;
    });
    throwIfAny(fields);
  }

  /**
   * Checks the contracts of a client, stores them and returns what the client offers. VALIDATION_ERROR names each
   * faulty tool and field; TOO_LARGE if the clients of the user have too many.
   * @param othersBytes contracts of the user's other clients
   */
  async take(
    tools: readonly CustomToolDto[],
    userId: string,
    othersBytes: () => Promise<number>,
  ): Promise<ClientOffer[]> {
    if (tools.length === 0) return [];
    if (tools.length > MAX_CUSTOM_TOOLS)
      throw fieldError('customTools', `must have at most ${MAX_CUSTOM_TOOLS} items`);
    const contracts = tools.map(contractOf);
    const sizes = contracts.map((contract) => bytesOf(contract));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    if (bytes > MAX_CLIENT_BYTES)
      throw fieldError('customTools', `must have at most ${MAX_CLIENT_BYTES} bytes of JSON in all`);
    const fields = this.faultsOf(tools);
    await this.compile(tools, userId, fields);
    throwIfAny(fields);
    if (bytes + (await othersBytes()) > MAX_USER_BYTES)
      throw new DomainError(
        'TOO_LARGE',
        `The custom tools of your clients must have at most ${MAX_USER_BYTES} bytes of JSON in all`,
      );
    this.countNew(userId, contracts, sizes);
    return Promise.all(
      contracts.map((contract, at) => this.store(contract, sizes[at]!, tools[at]!.isAvailable ?? true)),
    );
  }

  /** RATE_LIMITED if the user adds too much: texts that change with every announcement would fill the store. */
  private countNew(userId: string, contracts: readonly ToolContract[], sizes: readonly number[]): void {
    const fresh = contracts.reduce(
      (sum, contract, at) => sum + (this.stored.has(digestOf(contract)) ? 0 : sizes[at]!),
      this.added.get(userId) ?? 0,
    );
    if (fresh > MAX_NEW_BYTES)
      throw new DomainError(
        'RATE_LIMITED',
        'Your clients change their tools too often; try again in an hour',
        {
          retryAfterSeconds: NEW_MS / 1000,
        },
      );
    this.added.set(userId, fresh);
  }

  /** Faults that need no compiler: names, event names, roots and sizes of schemas, timeouts. */
  private faultsOf(tools: readonly CustomToolDto[]): FieldFaults {
    const fields: FieldFaults = {};
    const byEvent = new Map<string, string>();
    tools.forEach((tool, at) => {
      const field = (name: string): string => `customTools[${at}].${name}`;
      const { name, timeouts } = tool;
      const event = eventNameOf(name);
      const other = byEvent.get(event);
      const fault =
        nameFault(name, this.builtIn) ??
        (other === undefined ? null : `has the event name Tool.${event}, like "${other}"`);
      if (fault !== null) fields[field('name')] = fault;
      byEvent.set(event, name);
      for (const part of SCHEMAS) {
        const schemaFault = rootFault(tool[part], part);
        if (schemaFault !== null) fields[field(part)] = schemaFault;
      }
      const { maxApprovalMs, maxExecutionMs } = this.config;
      if ((timeouts?.approvalMs ?? 0) > maxApprovalMs)
        fields[field('timeouts.approvalMs')] = `must not be over ${maxApprovalMs}`;
      if ((timeouts?.executionMs ?? 0) > maxExecutionMs)
        fields[field('timeouts.executionMs')] = `must not be over ${maxExecutionMs}`;
    });
    return fields;
  }

  /** Compiles the schemas on a worker, one by one, and adds their faults; the first that is over the budget ends it. */
  private async compile(tools: readonly CustomToolDto[], userId: string, fields: FieldFaults): Promise<void> {
    for (const [at, tool] of tools.entries()) {
      for (const part of SCHEMAS) {
        const schema = tool[part];
        if (schema === undefined || schema === null) continue;
        const field = `customTools[${at}].${part}`;
        if (field in fields) continue;
        const digest = digestOf(schema);
        if (this.sound.has(digest)) continue;
        const fault = await this.compileOne(schema, userId).catch((error: unknown) => {
          if (!(error instanceof DomainError) || error.code !== 'TOO_LARGE') throw error;
          throw fieldError(field, 'takes too much time or memory to compile');
        });
        if (fault === null) this.sound.set(digest, true);
        else fields[field] = fault;
      }
    }
  }

  private async compileOne(schema: JsonSchema, userId: string): Promise<string | null> {
    const [fault = null] = await this.pool.run(userId, COMPILE_SCHEMAS, [schema], { bytes: bytesOf(schema) });
    return fault;
  }

  private async store(contract: ToolContract, bytes: number, isAvailable: boolean): Promise<ClientOffer> {
    const { name, requestSchema, responseSchema, effect } = contract;
    const digest = digestOf({ name, requestSchema, responseSchema, effect });
    const version = digestOf(contract);
    // Calls are accepted under the digest; the version has the newest texts beside it.
    await Promise.all([this.contracts.put(digest, contract), this.contracts.put(version, contract)]);
    this.stored.set(version, true);
    return { name, digest, version, bytes, isAvailable };
  }
}

/** The contract as it is stored. Any JSON is a result if there is no response schema. */
function contractOf({
  name,
  title,
  description,
  category,
  guidance,
  effect,
  timeouts,
  ...schemas
}: CustomToolDto): ToolContract {
  const { approvalMs, executionMs } = timeouts ?? {};
  const clocks = { ...(approvalMs && { approvalMs }), ...(executionMs && { executionMs }) };
  return {
    ...{
      name,
      description,
      category: category ?? 'custom',
      executionLocation: 'client',
      guidance: guidance ?? '',
    },
    ...{ requestSchema: schemas.requestSchema, responseSchema: schemas.responseSchema ?? {} },
    ...(title && { title }),
    effect: effect ?? 'execute',
    ...(Object.keys(clocks).length > 0 && { timeouts: clocks }),
  };
}

function rootFault(schema: unknown, part: (typeof SCHEMAS)[number]): string | null {
  if (part === 'responseSchema' && (schema === undefined || schema === null)) return null;
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    return 'must be a JSON Schema, an object';
  if (part === 'requestSchema' && (schema as JsonSchema).type !== 'object')
    return 'must have type: "object" at its root';
  return bytesOf(schema) > MAX_SCHEMA_BYTES ? `must have at most ${MAX_SCHEMA_BYTES} bytes of JSON` : null;
}

function bytesOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}
