import { Injectable } from '@nestjs/common';
import type { JsonObject, ToolContract } from '@patchbay/protocol';
import { DomainError } from '../common/domain-error.js';
import { isUuid } from '../common/ids.js';
import { PatchesService } from '../patches/patches.service.js';
import { objectSchema, SHA256, TEXT, TIME } from './schema-parts.js';
import type { ServerTool, ToolContext } from './tool.js';

const textOrNull = { type: ['string', 'null'] };

const contract: ToolContract = {
  name: 'get_patch_change',
  description:
    'Look up one change of a patch batch by its changeId: its lines, its file and batch, and whether it was applied, ' +
    'rejected by the person, or failed. Works across the conversations of the workspace.',
  category: 'patches',
  executionLocation: 'server',
  requestSchema: objectSchema({
    changeId: { ...TEXT, minLength: 1, maxLength: 256, description: 'changeId from the result of a patch.' },
  }),
  responseSchema: objectSchema({
    batchId: TEXT,
    batchKey: textOrNull,
    batchLabel: textOrNull,
    createdAt: TIME,
    revertOf: textOrNull,
    filePatchId: TEXT,
    fileKey: textOrNull,
    docPath: TEXT,
    originalSha256: {
      anyOf: [SHA256, { type: 'null' }],
      description: 'null for a file of another user that was not applied.',
    },
    change: {
      type: 'object',
      description:
        'The change as it was proposed, with its outcome, which is null while it is open. ' +
        'For another user’s unapplied change only changeId and status are given; operation is null.',
    },
    fileOutcome: {
      type: ['object', 'null'],
      description: 'Outcome of the whole file; null while it is open.',
    },
  }),
  guidance: `# get_patch_change

Shows one change of an earlier patch, and its outcome.

- Use it when the user asks about a change, or when a result says that a change was rejected or failed and you need its lines again.
- It takes the changeId that the server gave, not your own changeKey.
- The lines are those of the file at that time. Read the current file before you patch again.`,
};

/** `get_patch_change`: the proposal of a changeId, and its outcome. */
@Injectable()
export class GetPatchChangeTool implements ServerTool {
  readonly contract = contract;
  readonly order = 140;

  constructor(private readonly patches: PatchesService) {}

  /** Finds a change by id in any session. */
  async execute({ changeId }: JsonObject, context: ToolContext): Promise<JsonObject> {
    if (!isUuid(changeId)) throw new DomainError('NOT_FOUND', 'There is no such change in this workspace.');
    return (await this.patches.change(context, changeId.toLowerCase())) as unknown as JsonObject;
  }
}
