import type { ToolContract } from '../tool-contract.js';
import { cloudPath, COUNT, objectSchema, PATH_RULES, SHA256, TEXT, UUID } from './schema-parts.js';

/* Tools that change Cloud files without writing them whole. */

const category = 'files';
const executionLocation = 'server';

/** `edit`: one exact string of a Cloud file for another. */
export const edit: ToolContract = {
  name: 'edit',
  description:
    'Replace one exact string in a Cloud text file. oldString must be in the file exactly once, unless replaceAll is true. ' +
    'With sha256, the edit happens only if the file still is what you have read.',
  category,
  executionLocation,
  requestSchema: objectSchema(
    {
      path: cloudPath('Path of the file.'),
      oldString: {
        type: 'string',
        minLength: 1,
        description: 'The text to replace, exactly as it is in the file.',
      },
      newString: { type: 'string', description: 'What comes in its place; "" removes it.' },
      sha256: {
        type: ['string', 'null'],
        pattern: '^[0-9a-fA-F]{64}$',
        description: 'sha256 of the version that you have read; another one is STALE.',
      },
      replaceAll: {
        type: ['boolean', 'null'],
        default: false,
        description: 'true replaces every occurrence.',
      },
    },
    ['path', 'oldString', 'newString'],
  ),
  responseSchema: objectSchema({
    path: TEXT,
    fileId: UUID,
    versionId: UUID,
    sha256: SHA256,
    sizeBytes: COUNT,
    replacements: { type: 'integer', minimum: 1 },
  }),
  guidance: `# edit

Changes a part of a Cloud text file and leaves every other byte as it is.

- Read the file first, and pass the sha256 that you have read: then nothing can have changed in between unnoticed.
- \`oldString\` is matched exactly, spaces and line endings included. If it occurs more than once the call fails and says how often: take more of the lines around it, or mean all of them with \`replaceAll\`.
- For files on the user's machine use workspace_write_patch.
- ${PATH_RULES}`,
};

/** `mv`: another path for a Cloud file. */
export const mv: ToolContract = {
  name: 'mv',
  description:
    'Move or rename a Cloud file. It keeps its id and its versions; missing folders are made. What is at the new path already is never replaced.',
  category,
  executionLocation,
  requestSchema: objectSchema({
    from: cloudPath('Path of the file.'),
    to: cloudPath('Its full new path, with the file’s name.'),
  }),
  responseSchema: objectSchema({ from: TEXT, path: TEXT, fileId: UUID }),
  guidance: `# mv

Gives a Cloud file another path.

- \`to\` is the whole new path, not a folder to put the file into.
- Where something is at the new path the call is a CONFLICT: choose another path, or delete what is there first if that is really meant.
- Folders are moved by moving their files.
- ${PATH_RULES}`,
};

/** `mkdir`: a Cloud folder. */
export const mkdir: ToolContract = {
  name: 'mkdir',
  description:
    'Make a Cloud folder, with the folders above it. A folder that is there already stays as it is.',
  category,
  executionLocation,
  requestSchema: objectSchema({ path: cloudPath('Path of the folder.') }),
  responseSchema: objectSchema({ path: TEXT, fileId: UUID, created: { type: 'boolean' } }),
  guidance: `# mkdir

Makes a Cloud folder. You rarely need it: write makes the folders of a new file by itself. Use it where a folder has to be there while it is still empty.

- ${PATH_RULES}`,
};
