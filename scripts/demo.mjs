/**
 * From nothing to one executed, approved and recorded tool call: the real server, the real client, real files.
 * `npm run demo` stops when it is done; `npm run demo -- --keep` stays up.
 */
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { clearTimeout, setTimeout } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, URL } from 'node:url';
import { styleText } from 'node:util';

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
const SERVER = join(REPOSITORY, 'dist/main.js');
const CLIENT = join(REPOSITORY, 'packages/cli/bin/patchbay.cjs');
const START_MS = 30_000;

/** Settings of whoever runs the demo are not the demo's. */
const ENVIRONMENT = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('PATCHBAY_')),
);

const keep = process.argv.includes('--keep');
const folder = await mkdtemp(join(tmpdir(), 'patchbay-demo-'));
const project = join(folder, 'project');
const children = [];
let steps = 0;
const signalled = new Promise((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve));

const paint = (format, text) => styleText(format, text, { stream: process.stdout });
const print = (text = '') => process.stdout.write(`${text}\n`);
const step = (title) => print(`\n${paint('bold', paint('cyan', `${++steps}  ${title}`))}`);
const indent = (text) => text.trimEnd().replace(/^/gm, '   ');
const command = (line, note = '') =>
  print(`   ${paint('bold', `$ ${line}`)}${note && paint('dim', `   ${note}`)}`);

const TURN = {
  turnId: 'demo-turn-1',
  toolCalls: [
    {
      toolCallId: 'call_new',
      name: 'workspace_create_file',
      arguments: { path: 'src/greeting.ts', content: "export const greeting = 'Hello from the LLM';\n" },
    },
    {
      toolCallId: 'call_existing',
      name: 'workspace_create_file',
      arguments: { path: 'README.md', content: 'Replaced without asking!\n', overwrite: false },
    },
  ],
};
const README = '# A project\n\nWritten by a person.\n';

/** Starts a child process and remembers what it says. */
function start(name, script, args, env, cwd) {
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...ENVIRONMENT, ...env },
    cwd,
    stdio: 'pipe',
  });
  const started = { name, child, out: '', err: '', ended: null };
  child.stdout.on('data', (chunk) => (started.out += chunk));
  child.stderr.on('data', (chunk) => (started.err += chunk));
  started.ended = new Promise((resolve) => child.once('close', (code) => resolve(code)));
  child.stdin.end();
  children.push(started);
  return started;
}

async function run(args, env, expected = 0) {
  const ran = start(`patchbay ${args[0]}`, CLIENT, args, env, project);
  const code = await ran.ended;
  children.splice(children.indexOf(ran), 1);
  if (code !== expected)
    throw new Error(`"patchbay ${args.join(' ')}" ended with ${code}: ${ran.err.trim()}`);
  return ran.out;
}

async function until(what, started, condition) {
  const deadline = Date.now() + START_MS;
  while (!(await condition())) {
    if (started.child.exitCode !== null) throw new Error(`The ${started.name} ended before it was ${what}.`);
    if (Date.now() > deadline)
      throw new Error(`The ${started.name} was not ${what} within ${START_MS / 1000} s.`);
    await sleep(50);
  }
}

async function freePort() {
  const probe = createServer();
  await new Promise((resolve, reject) => probe.once('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

async function startServer() {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const env = {
    NODE_ENV: 'development',
    PORT: String(port),
    HOST: '127.0.0.1',
    PATCHBAY_DATA_DIR: join(folder, 'data'),
  };
  const server = start('server', SERVER, [], env, folder);
  const isReady = async () =>
    (await globalThis.fetch(`${url}/health/ready`).catch(() => null))?.status === 200;
  await until('ready', server, isReady);
  return url;
}

async function demo() {
  print(paint('bold', 'Patchbay routes an LLM’s tool calls to where they can run, and records every step.'));

  step('The server, on its embedded store');
  const url = await startServer();
  print(`   ready at ${url}, data in ${join(folder, 'data')}`);

  step('A user and a workspace');
  const env = { PATCHBAY_HOME: join(folder, 'home'), PATCHBAY_PASSWORD: randomBytes(12).toString('hex') };
  command('patchbay login --register --email ada@example.com');
  print(indent(await run(['login', '--url', url, '--register', '--email', 'ada@example.com'], env)));

  step('A client in a project folder that holds one file, README.md');
  command(
    'patchbay connect --push --yes',
    '# --yes answers for you; without it you are asked about every call',
  );
  const client = start('client', CLIENT, ['connect', '--push', '--yes'], env, project);
  await until('connected', client, () => client.out.includes('connected\n'));
  print(`   connected to ${project}`);

  step('A turn: what an orchestrator posts when its LLM has answered with tool calls');
  await writeFile(join(folder, 'turn.json'), `${JSON.stringify(TURN, null, 2)}\n`);
  for (const { toolCallId, name, arguments: args } of TURN.toolCalls) {
    const note = args.path === 'README.md' ? '# exists, and overwrite is false' : '# new';
    print(`   ${toolCallId.padEnd(14)} ${name}  ${args.path.padEnd(16)} ${paint('dim', note)}`);
  }
  command('patchbay turn turn.json');
  // Exit code 5: the turn is final, and one of its calls did not succeed; that is what is shown here.
  const { result: envelope } = JSON.parse(await run(['turn', join(folder, 'turn.json')], env, 5));

  step('The person’s approval, answered automatically here (--yes)');
  const said = client.err
    .split('\n')
    .filter((line) => line && !line.startsWith('{') && !line.startsWith('Executing'));
  print(indent(said.join('\n')));
  print(`   README.md  ${paint('dim', 'nobody is asked: the call cannot succeed')}`);

  step('The turn result, for the LLM’s next turn');
  print(indent(JSON.stringify(envelope, null, 2)));

  step('The files on disk');
  await checkFiles(envelope);

  step('One folder, two authors: an edit by hand, and one by the LLM on top of it');
  await twoAuthors(env);

  step('The audit trail');
  command('patchbay audit');
  print(indent(await run(['audit'], env)));
  return { url, env };
}

async function twoAuthors(env) {
  const file = join(project, 'src/greeting.ts');
  await writeFile(file, `// A line by hand.\n${await readFile(file, 'utf8')}`);
  print(`   ${paint('dim', 'by hand')}    a line in front of src/greeting.ts; the client sends it by itself`);
  const docPath = 'project/src/greeting.ts';
  const read = await call(env, 'workspace_read_file', { docPath });
  const changes = [{ operation: 'insert', afterLine: 1, newLines: ['// A line by the LLM.'] }];
  const files = [{ docPath, originalSha256: read.sha256, changes }];
  await call(env, 'workspace_write_patch', { files });
  print(
    `   ${paint('dim', 'by the LLM')} a patch of what it has read: ${read.sha256.slice(0, 12)}…, from the ${read.source}`,
  );
  print(indent(await readFile(file, 'utf8')).replace(/^/gm, '   '));
  command('patchbay push', '# are the folder and the Cloud the same?');
  const said = await run(['push'], env);
  print(indent(said));
  if (!said.startsWith('sent 0 files')) throw new Error('The folder and the Cloud were not the same.');
  print(`   ${paint('green', '✓')} both lines are there, here and in the Cloud`);
}

/** A turn of one call, as an orchestrator would post it. */
async function call(env, name, args) {
  const turn = join(folder, 'call.json');
  await writeFile(turn, JSON.stringify([{ toolCallId: name, name, arguments: args }]));
  const { result } = JSON.parse(await run(['turn', turn], env));
  return result.toolResults[0].result;
}

async function checkFiles({ toolResults }) {
  const [created, refused] = toolResults;
  const bytes = await readFile(join(project, 'src/greeting.ts'));
  const hash = createHash('sha256').update(bytes).digest('hex');
  if (created.result.hash !== hash)
    throw new Error(`The file's sha256 is ${hash}, its result says ${created.result.hash}.`);
  if (refused.error?.code !== 'FileExists')
    throw new Error(`README.md: FileExists was expected, not ${refused.status}.`);
  if ((await readFile(join(project, 'README.md'), 'utf8')) !== README)
    throw new Error('README.md was changed.');
  print(`   src/greeting.ts  ${bytes.length} bytes, sha256 ${hash}`);
  print(`   ${paint('green', '✓')} the same hash as in the turn result`);
  print(`   ${paint('green', '✓')} README.md is untouched`);
}

async function stayUp({ url, env }) {
  print(
    `\n${paint('bold', 'It stays up until you press Ctrl-C.')} Go on in another terminal, in ${REPOSITORY}:\n`,
  );
  print(`   export PATCHBAY_HOME=${env.PATCHBAY_HOME}`);
  print(
    `   npx patchbay turn your-turn.json     # start from ${join(folder, 'turn.json')}, with another turnId or none`,
  );
  print('   npx patchbay audit --json');
  print(`   curl ${url}/health/ready             # the API is described at ${url}/api/docs`);
  print(`\nFiles appear in ${project}. To answer the approvals yourself, connect a folder of yours:\n`);
  print(`   cd <your project> && ${process.execPath} ${CLIENT} connect`);
  const ends = children.map(async ({ name, ended }) =>
    Promise.reject(new Error(`The ${name} ended: ${await ended}.`)),
  );
  await Promise.race([signalled, ...ends]);
}

/** Newest first, as the client should leave before its server; a process that does not end is killed. */
async function stop() {
  for (const { child, ended } of children.splice(0).reverse()) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGTERM');
    const killing = setTimeout(() => child.kill('SIGKILL'), 15_000);
    await ended;
    clearTimeout(killing);
  }
}

function tell(error) {
  print(`\n${paint('bold', paint('red', 'The demo failed:'))} ${error.message}`);
  for (const { name, out, err } of children) {
    const tail = `${out}${err}`.trimEnd().split('\n').slice(-25).join('\n');
    print(`\n${paint('bold', `Last lines of the ${name}:`)}\n${indent(tail)}`);
  }
}

try {
  await mkdir(project);
  await writeFile(join(project, 'README.md'), README);
  const interrupted = signalled.then(() => Promise.reject(new Error('interrupted.')));
  const running = await Promise.race([demo(), interrupted]);
  interrupted.catch(() => undefined);
  if (keep) await stayUp(running);
  await stop();
  print(
    `\n${paint('bold', 'Stopped.')} ${keep ? '' : 'npm run demo -- --keep stays up. '}npm start serves on port 3000.`,
  );
} catch (error) {
  tell(error);
  await stop();
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
