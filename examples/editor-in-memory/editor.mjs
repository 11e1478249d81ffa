// An editor without a disk: its files are the texts of a Map. Run it, and post a turn to its workspace.
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline/promises';
import { PatchbayClient } from '@patchbay/client';
import { MemoryJournals, RelayClient } from '@patchbay/client/relay';
import { textEditor } from '@patchbay/workspace';

const { PATCHBAY_URL: url, PATCHBAY_TOKEN: token, PATCHBAY_WORKSPACE: workspaceId } = process.env;
const patchbay = new PatchbayClient({ url, token });
const terminal = createInterface({ input: process.stdin, output: process.stdout });
const texts = new Map([['notes/today.md', '# Today\n\n- nothing yet\n']]);

// The folder's id is kept: under another one the next run would be another folder of the same name, which is refused.
const home = process.env.PATCHBAY_HOME ?? join(homedir(), '.patchbay');
await mkdir(home, { recursive: true });
const idFile = join(home, 'editor-in-memory.id');
await writeFile(idFile, randomUUID(), { flag: 'wx' }).catch(() => undefined);
const rootId = await readFile(idFile, 'utf8');

const approver = {
  async decide({ files }, signal) {
    for (const { path, before, after, patch } of files)
      console.log(patch?.diff ?? `${path}\n${before ?? ''}→\n${after}`);
    const answer = await terminal.question('Do it? [y/N] ', { signal });
    return { decision: answer === 'y' ? 'allow' : 'deny', by: 'me', at: new Date().toISOString() };
  },
};

const relay = new RelayClient({
  ...{ url, workspaceId, clientId: 'editor-in-memory', journal: new MemoryJournals() },
  token: (refused) => patchbay.accessToken(refused),
  onState: ({ status }) => console.log(status),
  onWarning: console.warn,
  ...textEditor({ name: 'notes', rootId, texts, approver }),
});
await relay.connect();
process.on('SIGTERM', () => relay.close().then(() => terminal.close()));
