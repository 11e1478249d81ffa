/** What the operations are grouped by in a browser, and which paths (below `/api/v1`) belong to each; the first that fits. */
export const API_TAGS: readonly { name: string; description: string; paths: RegExp }[] = [
  { name: 'accounts', description: 'Accounts, logins and tokens.', paths: /^\/auth\// },
  { name: 'turns', description: 'Tool calls of a model: taken, run, answered.', paths: /\/turns(\/|$)/ },
  {
    name: 'sessions',
    description: 'Conversations of an agent, and what belongs into its system prompt.',
    paths: /\/sessions(\/|$)/,
  },
  { name: 'tools', description: 'The catalog, and single calls outside of a turn.', paths: /\/tools$/ },
  { name: 'patches', description: 'Patch batches and what became of them.', paths: /\/(patches|changes)\// },
  {
    name: 'files',
    description: 'Cloud files: bytes, versions, many at once.',
    paths: /\/(contents|files|blobs)(\/|$)/,
  },
  { name: 'folders', description: 'Folders that clients have connected.', paths: /\/roots(\/|$)/ },
  { name: 'audit', description: 'The record of every step.', paths: /\/audit$/ },
  { name: 'operations', description: 'Whether the server is well.', paths: /^\/health\// },
  { name: 'workspaces', description: 'Workspaces and their members.', paths: /^\/workspaces(\/|$)/ },
];

/** The tag of a path. */
export function tagOf(path: string): string {
  const below = path.replace(/^\/api\/v1/, '');
  const tag = API_TAGS.find(({ paths }) => paths.test(below));
  if (!tag) throw new Error(`No tag of API_TAGS fits ${path}.`);
  return tag.name;
}
