/**
 * Holds the built server to docs/openapi.json: Schemathesis makes up requests from the document, follows its links, and
 * judges each answer. `npm run build` first; needs python3 with venv. `npm run test:api`, or with MAX_EXAMPLES=<n>
 * (requests of each kind and route, 20 by default), SEED=<n>, or any option of `schemathesis run` behind it.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, URL } from 'node:url';
import { buildFixture } from './fixture.mjs';

const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const REQUIREMENTS = fileURLToPath(new URL('requirements.txt', import.meta.url));
const MAX_EXAMPLES = Number(process.env.MAX_EXAMPLES ?? 20);
/** A number names the requests that are made up: the same each time, unless another is asked for. */
const SEED = Number(process.env.SEED ?? 12);

const TOOLS = [
  'ls',
  'read',
  'write',
  'rm',
  'edit',
  'mv',
  'mkdir',
  'workspace_create_file',
  'workspace_write_patch',
];

/** Operations that may refuse what fits their schema, by rules that no schema says. */
const BEYOND_SCHEMAS = [
  // A cursor is one that the server gave.
  ...['listFiles', 'listFileVersions', 'listOpenTurns', 'queryAudit'],
  // A path has components of at most 255 bytes, none of them `..`; its file may have moved on.
  ...['getContents', 'putContents', 'putActiveFiles', 'commitFiles', 'claimRoot', 'forgetRoot', 'callTool'],
  // Bytes are what their hash says, or a pack of such.
  ...['putBlob', 'putBlobs'],
  // Longer than the settings of a server let it wait, larger than they let it answer.
  ...['getContext', 'getTurn', 'postTurn', 'revertBatch'],
  // A tool's contract says more of its results, a session's choice names tools that there are.
  ...['postResults', 'createSession'],
];

/** Whether a command went well; what it says goes to ours. */
function run(command, args) {
  return spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}

/** The folder of the programs, in a cache that is made anew for other requirements. */
async function install() {
  const key = createHash('sha256')
    .update(await readFile(REQUIREMENTS))
    .digest('hex')
    .slice(0, 16);
  const folder = at(`node_modules/.cache/schemathesis-${key}`);
  const done = join(folder, 'installed');
  if (!existsSync(done)) {
    const made =
      run('python3', ['-m', 'venv', '--clear', folder]) &&
      run(join(folder, 'bin/pip'), ['install', '--quiet', '--disable-pip-version-check', '-r', REQUIREMENTS]);
    if (!made) throw new Error('Schemathesis could not be installed: see above.');
    await writeFile(done, '');
  }
  return join(folder, 'bin/schemathesis');
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** The built server over a data directory of its own; what it logs is shown where it should not have been. */
async function startServer(dataDir) {
  const port = await freePort();
  const env = {
    ...{
      PATH: process.env.PATH,
      PORT: String(port),
      PATCHBAY_DATA_DIR: dataDir,
      PATCHBAY_LOG_LEVEL: 'error',
      PATCHBAY_REGISTRATION: 'open',
    },
    ...{ PATCHBAY_RATE_LIMIT: 'off', PATCHBAY_PASSWORD_COST: '14', PATCHBAY_MAX_WAIT_MS: '50' },
  };
  const child = spawn(process.execPath, [at('dist/main.js')], {
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error('The server did not start: see above.');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { url, child };
}

/** Real values for what the document names, taken nine times of ten. */
function configuration({ token, email, spareWorkspaceId, ids }) {
  const quoted = JSON.stringify;
  const names = Object.keys(ids);
  const pool = (name, values) => `[dictionaries.${name}]\nvalues = ${quoted(values)}`;
  const use = (key, dictionary) =>
    `${quoted(key)} = { dictionary = ${quoted(dictionary)}, probability = 0.9 }`;
  return [
    `seed = ${SEED}`,
    '[headers]',
    `Authorization = ${quoted(`Bearer ${token}`)}`,
    '[parameters]',
    ...names.map((name) => use(`path.${name}`, name)),
    ...['sessionId', 'turnId', 'toolCallId', 'versionId'].map((name) => use(`query.${name}`, name)),
    ...['sessionId', 'versionId', 'sha256'].map((name) => use(`body.${name}`, name)),
    use('body.email', 'email'),
    use('body.tool', 'tool'),
    ...names.map((name) => pool(name, ids[name])),
    pool('email', [email]),
    pool('tool', TOOLS),
    pool('spareWorkspaceId', [spareWorkspaceId]),
    // An unknown method is an unknown route, a 404, as contract and document say.
    '[checks]',
    'unsupported_method.enabled = false',
    'negative_data_rejection.expected-statuses = ["4xx"]',
    '[[operations]]',
    `include-operation-id = ${quoted(BEYOND_SCHEMAS)}`,
    `checks.positive_data_acceptance.expected-statuses = ["2xx", 400, 403, 404, 409, 412, 413]`,
    '[[operations]]',
    'include-operation-id = "changeWorkspace"',
    `parameters = { ${use('path.workspaceId', 'spareWorkspaceId')} }`,
  ].join('\n');
}

if (!run('python3', ['--version']) && process.env.CI !== 'true') {
  process.stderr.write('SKIPPED: no python3, so nothing was held to docs/openapi.json.\n');
  process.exit();
}
const program = await install();
const folder = await mkdtemp(join(tmpdir(), 'patchbay-schemathesis-'));
const { url, child } = await startServer(join(folder, 'data'));
try {
  const config = join(folder, 'schemathesis.toml');
  await writeFile(config, configuration(await buildFixture(url)));
  const args = [
    '--config-file',
    config,
    'run',
    at('docs/openapi.json'),
    '--url',
    url,
    '--max-examples',
    MAX_EXAMPLES,
  ];
  // What it found before is not asked for again: a run says the same as the one in CI.
  const tool = spawn(program, [...args.map(String), ...process.argv.slice(2)], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  process.exitCode = await new Promise((resolve) => tool.once('close', (code) => resolve(code ?? 1)));
} finally {
  child.kill();
  await new Promise((resolve) => child.once('close', resolve));
  await rm(folder, { recursive: true, force: true });
}
