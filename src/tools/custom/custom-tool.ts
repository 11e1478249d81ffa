import type { Json, JsonSchema, ToolContract, ToolOffer } from '@patchbay/protocol';
import { digestOf } from '../../common/digest.js';
import { DomainError } from '../../common/domain-error.js';
import type { Job } from '../../jobs/job.js';
import type { WorkPool } from '../../jobs/work-pool.js';
import type { CallSubject } from '../../storage/ports/turn.js';
import { halvesIn, repeatedNamesIn, Tool } from '../catalog/tool.js';
import type { ReadArguments } from '../parsed-texts.js';
import type { SchemaFault } from '../tool-schemas.js';
import { checkedPart } from './custom-result.js';
import { CHECK_VALUE, type ForeignCheck, READ_ARGUMENTS } from './schema-jobs.js';
import { eventNameOf } from './tool-names.js';

const TOO_COSTLY: SchemaFault = {
  path: '',
  code: 'budget',
  message: 'takes too much time or memory to check',
};

/** A tool that a client brings. Its schemas are checked on a worker alone, under the budget of a job. */
export class CustomTool extends Tool {
  override readonly timeouts: { approvalMs?: number; executionMs?: number };

  constructor(
    override readonly contract: ToolContract,
    digest: string,
    override readonly offeredBy: ToolOffer | null,
    override readonly isAvailable: boolean,
    private readonly userId: string,
    private readonly pool: WorkPool,
  ) {
    super({ contract }, contract, digest);
    this.timeouts = contract.timeouts ?? {};
  }

  override get auditName(): string {
    return eventNameOf(this.contract.name);
  }

  override async argumentFaults(args: Json): Promise<SchemaFault[]> {
    return (await this.readArguments(args)).faults;
  }

  override async readArguments(args: Json): Promise<ReadArguments> {
    const lost = [...halvesIn(args), ...repeatedNamesIn(args)];
    if (lost.length > 0) return { args, faults: lost, parsed: [] };
    const read = await this.run(READ_ARGUMENTS, this.contract.requestSchema, args);
    if (read === null) return { args, faults: [TOO_COSTLY], parsed: [] };
    const { faults, parsed, text } = read;
    return { args: text === null ? args : (JSON.parse(text) as Json), faults, parsed };
  }

  override async resultFaults(result: Json): Promise<SchemaFault[]> {
    const { responseSchema } = this.contract;
    const checked = checkedPart(result);
    if (checked === undefined || Object.keys(responseSchema).length === 0) return [];
    return (await this.run(CHECK_VALUE, responseSchema, checked)) ?? [TOO_COSTLY];
  }

  /** Arguments of a custom tool are content, so the audit trail has nothing of them. */
  override subjectOf(): CallSubject {
    return {};
  }

  /** Null if the check is over its budget. */
  private async run<Output>(
    job: Job<ForeignCheck, Output>,
    schema: JsonSchema,
    value: Json,
  ): Promise<Output | null> {
    const text = JSON.stringify(value);
    const input = { key: digestOf(schema), schema, text };
    return this.pool.run(this.userId, job, input, { bytes: text.length }).catch((error: unknown) => {
      if (error instanceof DomainError && error.code === 'TOO_LARGE') return null;
      throw error;
    });
  }
}
