// Runs each benchmark of bench/ with the least that it can measure, to see that it still runs; what it measures then says
// nothing. `bench:hostile` is a check of its own, in .ci/run; `bench:peers` installs packages, and is run by hand.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath, URL } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FEW_FILES = { FILES: '20', BYTES: '100000', ROUNDS: '1', EDITS: '2' };

/** Of each file: its settings and arguments; null where it is run elsewhere. */
const LEAST = {
  'corpus.mjs': [{ CORPUS: 'own' }],
  'diff.mjs': [{}, 'one edit in 10,000'],
  'files-push.mjs': [FEW_FILES],
  'files.mjs': [{ SIZES: '100', CALLS: '5', ROUNDS: '1' }],
  'folder-watch.mjs': [FEW_FILES],
  'hostile.mjs': null,
  'line-patch.mjs': [{}, '1000'],
  'mongo-trail.mjs': process.env.PATCHBAY_TEST_MONGODB_URI ? [{}, '2', '1'] : null,
  'nodes.mjs': process.env.PATCHBAY_TEST_MONGODB_URI
    ? [{ SECONDS: '1', WARM_UP: '0.2', ROUNDS: '1', LEVELS: '1' }]
    : null,
  'relay.mjs': [{ SECONDS: '0.2', WARM_UP: '0.2', ROUNDS: '1', LEVELS: '1' }],
  'start.mjs': [{}, '1'],
  'stored-calls.mjs': [
    { CALLS: '2000', FEW: '100', STARTS: '1', SECONDS: '0.2', WARM_UP: '0.2', ROUNDS: '1' },
  ],
  'storage.ts': [{ SECONDS: '0.01' }],
  'turn-size.mjs': [{ CALLS: '10', TURNS: '2', ROUNDS: '1' }],
  'work-hop.mjs': [{}],
};

let failed = 0;
for (const file of readdirSync(new URL('../bench', import.meta.url)).filter((name) =>
  /\.(mjs|ts)$/.test(name),
)) {
  if (file === 'free-port.mjs' || LEAST[file] === null) continue;
  const [settings, ...words] = LEAST[file] ?? [{}];
  const loader = file.endsWith('.ts') ? ['--import', './test/support/typescript.mjs'] : [];
  const start = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, [...loader, `bench/${file}`, ...words], {
    ...{ cwd: ROOT, encoding: 'utf8', timeout: 180_000, env: { ...process.env, ...settings } },
  });
  const isWell = status === 0 && /\d/.test(stdout);
  if (!isWell) failed += 1;
  console.log(
    `${isWell ? 'runs  ' : 'FAILED'} bench/${file} (${Math.round((performance.now() - start) / 1000)} s)`,
  );
  if (!isWell) console.log(stdout, stderr);
}
process.exit(failed === 0 ? 0 : 1);
