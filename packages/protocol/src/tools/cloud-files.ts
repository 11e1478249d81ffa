import type { ToolContract } from '../tool-contract.js';
import { cloudPath, objectSchema, optional, PATH_RULES, TEXT, TIME, UUID } from './schema-parts.js';

/*
 * The four basic tools on Cloud files: the contract of spec/workspace-tools-api.md, decided further in contract.md
 * section 4.
 */

const category = 'files';
const executionLocation = 'server';

/** `ls`: what is in a Cloud folder. */
export const ls: ToolContract = {
  name: 'ls',
  description:
    'List a folder of the workspace’s Cloud files: what is directly in it, or with recursive: true everything below it. ' +
    'Entries come sorted by path, each with its name, path, type (Document or Folder) and time of last change.',
  category,
  executionLocation,
  requestSchema: objectSchema(
    {
      path: optional({ ...cloudPath('Folder to list; the root where it is left out.'), default: '/' }),
      recursive: {
        type: ['boolean', 'null'],
        default: false,
        description: 'true lists everything below the folder, at any depth.',
      },
    },
    [],
  ),
  responseSchema: objectSchema({
    path: TEXT,
    entries: {
      type: 'array',
      items: objectSchema({
        name: TEXT,
        path: TEXT,
        file_type: { enum: ['Document', 'Folder'] },
        updated_at: TIME,
      }),
    },
  }),
  guidance: `# ls

Shows what a Cloud folder holds.

- Look here before you guess a path. Begin at the top and go down; ask for \`recursive: true\` only on folders you know to be small.
- To find files by name use glob, to find text in them use grep: both answer with less.
- ${PATH_RULES}
- A path that is a file is an error; a folder that does not exist is NOT_FOUND.`,
};

/** `read`: the newest version of a Cloud file, in the shape in which it was written. */
export const read: ToolContract = {
  name: 'read',
  description:
    'Read the newest version of a Cloud file, whole. Text comes as {"text": …}; ' +
    'a file that was written as another JSON value comes back as that value.',
  category,
  executionLocation,
  requestSchema: objectSchema({ path: cloudPath('Path of the file.') }),
  responseSchema: objectSchema({
    path: TEXT,
    content: { description: 'The content, as it was written; {"text": …} for a file that came as bytes.' },
  }),
  guidance: `# read

Gives a Cloud file back as it was written.

- Read a file before you write or edit it: what you remember of it may be old.
- For a large file, for line numbers, or where you need the sha256 for a patch, use workspace_read_file.
- ${PATH_RULES}
- Bytes that are no UTF-8 text cannot be read this way.`,
};

/** `write`: a whole Cloud file, new or as a new version. */
export const write: ToolContract = {
  name: 'write',
  description:
    'Store a whole Cloud file: a new one, with the folders it needs, or a new version of an existing one. ' +
    'content is {"text": …} or a string for a text file, or any other JSON value, which read gives back as it is. ' +
    'Older versions are kept.',
  category,
  executionLocation,
  requestSchema: objectSchema({
    path: cloudPath('Path of the file.'),
    content: {
      description: 'The complete content: {"text": "…"} or a string for text, else any JSON value.',
    },
  }),
  responseSchema: objectSchema({ path: TEXT, file_id: UUID, version_id: UUID }),
  guidance: `# write

Stores a complete file among the workspace's Cloud files. It does not touch the user's machine: that is what workspace_create_file and workspace_write_patch are for.

- \`content\` is the whole file; nothing is merged with what is there.
- To change a part of a text file use edit: it fails where the file is not what you think it is.
- Every write is a version of its own, so nothing is lost; do not make backup copies.
- ${PATH_RULES}
- Missing folders are made. A path that is a folder is an error, a path below a file a CONFLICT.`,
};

/** `rm`: deletes a Cloud file, or an empty folder. */
export const rm: ToolContract = {
  name: 'rm',
  description:
    'Delete a Cloud file, or a Cloud folder that is empty. The file’s versions are kept, and a person can restore it.',
  category,
  executionLocation,
  requestSchema: objectSchema({ path: cloudPath('Path of the file, or of an empty folder.') }),
  responseSchema: objectSchema({ path: TEXT, file_id: UUID }),
  guidance: `# rm

Deletes one Cloud file or one empty folder.

- Delete only what the user asked you to delete, or what you made yourself in this conversation.
- A folder with content is a CONFLICT: delete its files first, one by one, if all of them are really meant.
- To rename a file use mv: a deleted file that is written anew loses its history.
- ${PATH_RULES}`,
};
