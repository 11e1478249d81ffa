// Sends real source trees there and back and looks whether they are the same, byte for byte and executable or not: five npm
// packages by push and pull, and ten releases of one of them, each a batch of line patches that a connected client applies
// (what line patches cannot say, new and deleted files go by push): npm run bench:corpus
//
// Tarballs are fetched once, by `npm pack`, into ~/.cache/patchbay-corpus. CORPUS=own takes folders of this repository and
// needs no network. Exit code 1 on any difference.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { diffToChanges } from '@patchbay/protocol/line-patch';
import { corpus, differences, treeOf, write } from './corpus/trees.mjs';
import { BenchFolder, COMMAND } from './folder/bench-folder.mjs';

const SECRETS = ['--include-secrets', '*'];
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

const { trees, first, releases } = corpus();
const bench = await BenchFolder.start(null);
const base = `/workspaces/${bench.workspaceId}`;
let different = 0;
let pulls = 0;
let client = null;
try {
  const folders = new Map();
  console.table(Object.fromEntries(await each(trees, thereAndBack)));
  client = await connect(folders.get(first));
  const session = await bench.post(`${base}/sessions`, {});
  let before = trees.get(first);
  const rows = await each(releases, async (name, tree) => {
    const row = await release(folders.get(first), session.sessionId, before, tree);
    before = tree;
    return row;
  });
  console.table(Object.fromEntries(rows));

  /** Pushes a tree, pulls it into an empty folder, and compares. */
  async function thereAndBack(name, tree) {
    const folder = join(bench.directory, 'there', name.replace(/\W/g, '-'));
    folders.set(name, folder);
    write(folder, tree);
    const push = await bench.timed('push', folder, ...SECRETS);
    return { files: tree.size, bytes: sizeOf(tree), push: push.seconds, ...(await pulled(folder, tree)) };
  }

  async function pulled(folder, tree) {
    // A folder of its own: of one that was there before, it would be known what it had.
    const back = join(bench.directory, `back-${(pulls += 1)}`, folder.split('/').at(-1));
    const pull = await bench.timed('pull', back);
    return { pull: pull.seconds, different: count(differences(tree, treeOf(back))) };
  }

  /** Brings a folder from one release to the next. */
  async function release(folder, sessionId, before, tree) {
    const { patches, others, gone } = stepOf(folder, before, tree);
    for (const path of gone) rmSync(join(folder, path));
    write(folder, others);
    await bench.timed('push', folder, '--delete', ...SECRETS);
    const started = performance.now();
    if (patches.length > 0) await patch(sessionId, patches);
    const seconds = (performance.now() - started) / 1000;
    const here = count(differences(tree, treeOf(folder)));
    const row = { patched: patches.length, changes: patches.flatMap(({ changes }) => changes).length };
    return {
      ...row,
      pushed: others.size + gone.length,
      patch: seconds,
      here,
      ...(await pulled(folder, tree)),
    };
  }

  async function patch(sessionId, files) {
    const call = { toolCallId: 'release', name: 'workspace_write_patch', arguments: { files } };
    const turn = { toolCalls: [call], waitMs: 120_000 };
    const { result } = await bench.post(`${base}/sessions/${sessionId}/turns`, turn);
    const [done] = result.toolResults;
    if (done?.status !== 'succeeded')
      throw new Error(`The batch was not applied: ${JSON.stringify(done ?? result)}`);
  }
} finally {
  client?.kill('SIGTERM');
  await bench.close();
}
console.log(different === 0 ? 'Everything is the same, byte for byte.' : `${different} files differ.`);
process.exit(different === 0 ? 0 : 1);

async function each(named, work) {
  const rows = [];
  for (const [name, tree] of named) rows.push([name, rounded(await work(name, tree))]);
  return rows;
}

function rounded(row) {
  const short = (value) => (Number.isInteger(value) ? value : Number(value.toFixed(2)));
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, short(value)]));
}

function count(paths) {
  for (const path of paths.slice(0, 10)) console.error(`differs: ${path}`);
  different += paths.length;
  return paths.length;
}

function sizeOf(tree) {
  return [...tree.values()].reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/** What a release changes: file patches of what line patches can say, other files as they are to be, and those that go. */
function stepOf(folder, before, tree) {
  const [patches, others] = [[], new Map()];
  for (const [path, file] of tree) {
    const old = before.get(path);
    if (old && old.isExecutable === file.isExecutable && old.bytes.equals(file.bytes)) continue;
    const diffed = old && diffToChanges(old.bytes, file.bytes);
    const isSayable = diffed?.ok && diffed.changes.every(({ newEndings }) => newEndings === undefined);
    if (!isSayable || old.isExecutable !== file.isExecutable) others.set(path, file);
    else {
      const docPath = `${folder.split('/').at(-1)}/${path}`.normalize('NFC').toLowerCase();
      patches.push({ docPath, originalSha256: sha256(old.bytes), changes: diffed.changes });
    }
  }
  return { patches, others, gone: [...before.keys()].filter((path) => !tree.has(path)) };
}

/** @param {string} folder */
async function connect(folder) {
  const args = [COMMAND, 'connect', '--root', folder, '--yes', ...SECRETS];
  const child = spawn(process.execPath, args, { env: bench.env });
  let said = '';
  child.stdout.on('data', (chunk) => (said += chunk));
  child.stderr.resume();
  while (!said.includes('connected')) await sleep(20);
  return child;
}
