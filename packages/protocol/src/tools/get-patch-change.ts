import type { ToolContract } from '../tool-contract.js';
import { objectSchema, SHA256, TEXT, TIME } from './schema-parts.js';

const textOrNull = { type: ['string', 'null'] };

/** `get_patch_change` (TUL-002 section 11): what was proposed under a changeId, and what became of it. */
export const getPatchChange: ToolContract = {
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
    originalSha256: SHA256,
    change: {
      type: 'object',
      description: 'The change as it was proposed, with its outcome; null while it is open.',
    },
    fileOutcome: {
      type: ['object', 'null'],
      description: 'What became of the whole file; null while it is open.',
    },
  }),
  guidance: `# get_patch_change

Tells what one change of an earlier patch was, and what became of it.

- Use it when the user asks about a change, or when a result says that a change was rejected or failed and you need its lines again.
- It takes the changeId that the server gave, not your own changeKey.
- The lines are those of the file as it was then. Before you patch again, read the file as it is now.`,
};
