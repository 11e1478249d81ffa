import type { ToolContract } from '../tool-contract.js';
import { cloudPath, COUNT, objectSchema, optional, TEXT, TIME } from './schema-parts.js';

/* Tools that find Cloud files by name or by content, in bounded time whatever they are asked for. */

const category = 'files';
const executionLocation = 'server';

const folder = optional({
  ...cloudPath('Folder to look in; the whole workspace where it is left out.'),
  default: '/',
});

/** `glob`: Cloud files by name. */
export const glob: ToolContract = {
  name: 'glob',
  description:
    'Find Cloud files by a pattern of their path, such as "**/*.spec.ts" or "src/{api,web}/**". ' +
    'The pattern is held against the path below the folder; upper and lower case are the same.',
  category,
  executionLocation,
  requestSchema: objectSchema(
    {
      pattern: {
        type: 'string',
        minLength: 1,
        maxLength: 500,
        description: '* and ? within a name, ** across folders, [abc] and [!a-z], {one,other}.',
      },
      path: folder,
      limit: {
        type: ['integer', 'null'],
        minimum: 1,
        maximum: 5000,
        default: 500,
        description: 'Most files to return.',
      },
    },
    ['pattern'],
  ),
  responseSchema: objectSchema({
    files: { type: 'array', items: objectSchema({ path: TEXT, docPath: TEXT, updatedAt: TIME }) },
    isTruncated: { type: 'boolean' },
  }),
  guidance: `# glob

Finds Cloud files by name when you know a part of it.

- \`*.ts\` is only directly in the folder, \`**/*.ts\` at any depth.
- Narrow it with \`path\`: fewer files are looked at. \`isTruncated: true\` means that there may be more.
- To find text inside files use grep.`,
};

/** `grep`: Cloud files by a line of their text. */
export const grep: ToolContract = {
  name: 'grep',
  description:
    'Search the lines of Cloud text files for a regular expression, and get the lines that match with path and line number.',
  category,
  executionLocation,
  requestSchema: objectSchema(
    {
      pattern: {
        type: 'string',
        minLength: 1,
        maxLength: 1000,
        description:
          'Regular expression in RE2 syntax: no backreferences, no lookaround. Matched line by line.',
      },
      path: optional({
        ...cloudPath('File, or folder to look in; the whole workspace where it is left out.'),
        default: '/',
      }),
      glob: {
        type: ['string', 'null'],
        minLength: 1,
        maxLength: 500,
        description: 'Only files whose path below the folder fits this pattern, as in glob.',
      },
      literal: {
        type: ['boolean', 'null'],
        default: false,
        description: 'true takes pattern as plain text.',
      },
      ignoreCase: {
        type: ['boolean', 'null'],
        default: false,
        description: 'true takes upper and lower case as the same.',
      },
      limit: {
        type: ['integer', 'null'],
        minimum: 1,
        maximum: 2000,
        default: 200,
        description: 'Most lines to return.',
      },
    },
    ['pattern'],
  ),
  responseSchema: objectSchema({
    matches: {
      type: 'array',
      items: objectSchema({ path: TEXT, line: { type: 'integer', minimum: 1 }, text: TEXT }),
    },
    filesSearched: COUNT,
    isTruncated: { type: 'boolean' },
  }),
  guidance: `# grep

Finds where something is said in the workspace's Cloud files.

- Search for what is rare: a name, a message, a constant. Narrow it with \`path\` and \`glob\`.
- The pattern is RE2: no backreferences and no lookaround. With \`literal: true\` nothing has to be escaped.
- A match is one line; of a very long one you get what is around the match, and a match of more than 1,000 characters may be missed in it. Files that are not text are passed over.
- \`isTruncated: true\` means that the limit or the time was used up: ask for less.
- Active Files are searched in their Cloud copy, which may be older than what the editor holds.`,
};
