// A Patchbay server over a workspace that is filled first, for bench/files.mjs: argv is the number of files and the data
// directory; says where it listens, and with which token it is asked.
import { createHash, randomUUID } from 'node:crypto';
import process from 'node:process';
import { setImmediate } from 'node:timers/promises';
import { createApp } from '../../dist/bootstrap.js';
import { newId } from '../../dist/common/ids.js';
import { Config } from '../../dist/config/config.js';
import { FileStore } from '../../dist/storage/ports/files.store.js';

const FOLDER_SIZE = 100;
const BATCH = 2_000;

const [files, dataDir] = [Number(process.argv[2]), process.argv[3]];
const config = Config.with({
  dataDir,
  port: 0,
  logLevel: 'silent',
  rateLimit: null,
  accessTokenMinutes: 1440,
});
const app = await createApp({ config });
await app.listen(0, '127.0.0.1');
const url = await app.getUrl();

const { accessToken: token, user } = await post('/auth/register', null, {
  email: `${randomUUID()}@example.com`,
  password: 'correct horse battery',
});
const { id: workspaceId } = await post('/workspaces', token, { name: 'bench' });
await fill(app.get(FileStore, { strict: false }));
process.send({ url, token, workspaceId });

async function post(path, bearer, body) {
  const headers = {
    'content-type': 'application/json',
    ...(bearer && { authorization: `Bearer ${bearer}` }),
  };
  const answer = await fetch(`${url}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

/** The first folder is the one that is measured; the others lie around it, some of them nested. */
async function fill(store) {
  let writes = [];
  const settle = async () => {
    const stored = await Promise.all(writes);
    if (stored.includes(false)) throw new Error('The store refused a file');
    writes = [];
    await setImmediate();
  };
  for (let n = 0; n < files; n += 1) {
    const folder = Math.floor(n / FOLDER_SIZE);
    const name = folder === 0 ? '/measured' : `/around-${folder % 100}/nested-${folder}`;
    if (n % FOLDER_SIZE === 0) {
      if (folder > 0 && folder <= 100)
        writes.push(store.insertFolder(aFolder(`/around-${folder % 100}`), []));
      writes.push(store.insertFolder(aFolder(name), []));
    }
    const text = `This is the text of file ${n}, which nobody ever reads again.\n`;
    writes.push(store.insert(aFile(`${name}/file-${n % FOLDER_SIZE}.txt`, text), Buffer.from(text), []));
    if (writes.length >= BATCH) await settle();
  }
  await settle();
}

function aFolder(path) {
  const docPath = path.slice(1);
  return { kind: 'folder', id: newId(), workspaceId, path, docPath, createdAt: Date.now(), holder: user.id };
}

function aFile(path, text) {
  const now = Date.now();
  const head = {
    ...{ id: newId(), number: 1, sha256: createHash('sha256').update(text).digest('hex'), shape: 'text' },
    ...{
      sizeBytes: Buffer.byteLength(text),
      author: user.id,
      source: 'tool',
      conflict: false,
      createdAt: now,
    },
    ...{ batchId: null, filePatchId: null, callId: null },
  };
  return {
    ...{
      kind: 'file',
      id: newId(),
      workspaceId,
      path,
      docPath: path.slice(1),
      revision: 1,
      lastNumber: 1,
      head,
    },
    ...{ createdAt: now, updatedAt: now, deletedAt: null, holder: user.id },
  };
}
