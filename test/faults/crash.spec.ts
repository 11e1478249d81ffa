import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CloudFilePage, InvokeResult, TurnResult } from '@patchbay/protocol';
import { randomFrom } from '../contract/faults.js';
import { describeOnMongoBackend } from '../support/backend.js';
import { newDataDirectory } from '../support/data-directory.js';
import { type Editor, FaultFixture } from '../support/fault-fixture.js';
import { readTrail } from '../support/invariants.js';
import { freePort, ServerProcess } from '../support/processes.js';
import type { Answer } from '../support/test-user.js';

type TurnAnswer = Answer<InvokeResult<TurnResult>>;

/** Kills of the server; `npm run crash -- --rounds 40 --seed 7` sets both. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 3);
const SEED = Number(process.env.CRASH_SEED ?? 1);
/** Orchestrators that post turns all the time. */
const POSTERS = 4;
/** Most that a turn is waited for at the end, ms. */
const END_MS = 60_000;

import.meta.jest.setTimeout(120_000 + ROUNDS * 15_000);

/** Posts turns of two creates in the editor's folder and one write in the Cloud, through kills of the server. */
class Load {
  readonly turnIds: string[] = [];
  readonly acknowledged = new Map<string, TurnResult>();
  private isOver = false;

  constructor(
    private readonly fixture: FaultFixture,
    private readonly random: () => number,
  ) {}

  /** Resolves when `stop` was called and every turn was answered. */
  async run(): Promise<void> {
    await Promise.all(Array.from({ length: POSTERS }, () => this.poster()));
  }

  stop(): void {
    this.isOver = true;
  }

  private async poster(): Promise<void> {
    while (!this.isOver) {
      const turnId = `t${this.turnIds.length}`;
      this.turnIds.push(turnId);
      await this.post(turnId);
      await sleep(this.random() * 60);
    }
  }

  /** Sends the turn again until it is answered, as an orchestrator does whose server went away. */
  private async post(turnId: string): Promise<void> {
    const waitMs = Math.floor(this.random() * 800);
    for (;;) {
      const answer = await this.send({ turnId, toolCalls: callsOf(turnId), waitMs }).catch(() => null);
      if (answer !== null && answer.status < 300)
        return void this.acknowledged.set(turnId, answer.body.result);
      if (answer !== null && answer.status < 500)
        throw new Error(`${turnId}: ${answer.status} ${JSON.stringify(answer.body)}`);
      await sleep(100);
    }
  }

  private send(body: unknown): Promise<TurnAnswer> {
    return this.fixture.user.post(turnsOf(this.fixture), body);
  }
}

function turnsOf({ workspaceId, session }: FaultFixture): string {
  return `/workspaces/${workspaceId}/sessions/${session.sessionId}/turns`;
}

function callsOf(turnId: string) {
  const create = (name: string) => ({
    toolCallId: name,
    name: 'workspace_create_file',
    arguments: { path: `${turnId}-${name}.txt`, content: `${turnId} ${name}\n` },
  });
  const write = {
    ...{ toolCallId: 'c', name: 'write' },
    arguments: { path: `/cloud/${turnId}.txt`, content: { text: `${turnId} c\n` } },
  };
  return [create('a'), write, create('b')];
}

/** The files that server tools have written. */
async function cloudFiles(fixture: FaultFixture): Promise<CloudFilePage['files']> {
  const found: CloudFilePage['files'] = [];
  for (let cursor = ''; ;) {
    const path = `/workspaces/${fixture.workspaceId}/files?limit=1000${cursor}`;
    const { body } = await fixture.user.get<CloudFilePage>(path);
    found.push(...body.files.filter((file) => file.path.startsWith('/cloud/')));
    if (body.nextCursor === null) return found;
    cursor = `&cursor=${body.nextCursor}`;
  }
}

describe('A server that is killed again and again under load', () => {
  it(`loses nothing, does nothing twice and finishes every turn (${ROUNDS} kills, seed ${SEED})`, async () => {
    const random = randomFrom(SEED);
    const server = await ServerProcess.start(await newDataDirectory(), await freePort());
    const fixture = await FaultFixture.on(server);
    try {
      const editor = await fixture.editor();
      await fixture.connect(editor);
      const load = new Load(fixture, random);
      const running = load.run();
      for (let round = 0; round < ROUNDS; round += 1) {
        await sleep(50 + random() * 950);
        await fixture.killServer();
        if (round % 4 === 3) await editor.processes.at(-1)!.kill();
        editor.proxy.reset();
        await fixture.startServer();
        if (round % 4 === 3) await fixture.connect(editor);
      }
      load.stop();
      await running;
      const results = await ended(fixture, load);
      await expectOnDisk(editor, load.turnIds);
      await expectOnce(fixture, editor, results);
      const interrupted = [...results.values()].flat().filter(isInterrupted).length;
      process.stdout.write(
        `${ROUNDS} kills, seed ${SEED}: ${results.size} turns, ${3 * results.size} calls, ${interrupted} server calls ` +
          'interrupted and said so, nothing lost, doubled or left open\n',
      );
    } catch (error) {
      process.stderr.write(fixture.log.slice(-20_000));
      throw error;
    } finally {
      await fixture.close().finally(() => fixture.server.kill());
      await rm(server.dataDir, { recursive: true, force: true });
    }
  });
});

/** Several servers have one store on MongoDB alone. */
describeOnMongoBackend('Two of three servers that are killed at once under load', () => {
  it(`lose nothing: the third finishes every turn, once (seed ${SEED})`, async () => {
    const random = randomFrom(SEED);
    const dataDir = await newDataDirectory();
    const nodes = await Promise.all(
      [1, 2, 3].map(async () =>
        ServerProcess.start(dataDir, await freePort(), { PATCHBAY_GRACE_MS: '1000' }),
      ),
    );
    const [ofEditor, ofPosters, left] = nodes as [ServerProcess, ServerProcess, ServerProcess];
    const fixture = await FaultFixture.on(ofPosters);
    try {
      const editor = await fixture.editor();
      editor.proxy.port = Number(new URL(ofEditor.url).port);
      await fixture.connect(editor);
      const load = new Load(fixture, random);
      const running = load.run();
      await sleep(1_500 + random() * 1_500);
      await Promise.all([ofEditor.kill(), ofPosters.kill()]);
      fixture.useServer(left);
      await sleep(1_500);
      load.stop();
      await running;
      const results = await ended(fixture, load);
      await expectOnDisk(editor, load.turnIds);
      await expectOnce(fixture, editor, results);
      process.stdout.write(`Two of three servers killed: ${results.size} turns, nothing lost or doubled\n`);
    } catch (error) {
      process.stderr.write(fixture.log.slice(-20_000));
      throw error;
    } finally {
      await fixture.close().finally(() => Promise.all(nodes.map((node) => node.kill())));
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});

/**
 * Every turn is there and completed, with what it was answered before. Its client calls succeeded, and its server call,
 * unless that ran as the server stopped: then it says so. Gives the results by turn.
 */
async function ended(fixture: FaultFixture, load: Load) {
  const until = Date.now() + END_MS;
  const results = new Map<string, TurnResult['toolResults']>();
  for (const turnId of load.turnIds) {
    const left = Math.max(0, until - Date.now());
    const { body } = await fixture.get(turnId, Math.min(20_000, left));
    const { status, toolResults } = body.result;
    const told = toolResults.map((result) => (isInterrupted(result) ? 'interrupted' : result.status));
    expect({ turnId, status, told }).toEqual({
      ...{ turnId, status: 'completed' },
      told: ['succeeded', expect.stringMatching(/^(succeeded|interrupted)$/), 'succeeded'],
    });
    for (const before of load.acknowledged.get(turnId)!.toolResults)
      expect(toolResults).toContainEqual(before);
    results.set(turnId, toolResults);
  }
  return results;
}

function isInterrupted({ name, error }: TurnResult['toolResults'][number]): boolean {
  return name === 'write' && (error?.message.startsWith('The server stopped while this call ran.') ?? false);
}

async function expectOnDisk(editor: Editor, turnIds: readonly string[]): Promise<void> {
  const wanted = turnIds.flatMap((turnId) =>
    ['a', 'b'].map((name) => [`${turnId}-${name}.txt`, `${turnId} ${name}\n`]),
  );
  const names = await readdir(editor.root);
  const found = await Promise.all(
    names.map(async (name) => [name, await readFile(join(editor.root, name), 'utf8')]),
  );
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(wanted));
}

/** Each file was put in its place once, and each call has one acceptance and one end in the trail. */
async function expectOnce(
  fixture: FaultFixture,
  editor: Editor,
  results: ReadonlyMap<string, TurnResult['toolResults']>,
): Promise<void> {
  const placed = editor.processes.reduce((sum, process) => sum + process.placed, 0);
  // A client that was killed may have had no time to say it.
  expect(placed).toBeLessThanOrEqual(2 * results.size);
  const steps = new Map<string, number>();
  for (const { name, callId } of await readTrail(fixture.user, fixture.workspaceId)) {
    const step = `${callId} ${name.split('.').at(-1)}`;
    steps.set(step, (steps.get(step) ?? 0) + 1);
  }
  for (const { callId } of [...results.values()].flat())
    for (const step of ['Accepted', 'ResultReceived'])
      expect([callId, step, steps.get(`${callId} ${step}`)]).toEqual([callId, step, 1]);
  const written = new Map((await cloudFiles(fixture)).map(({ path, fileId }) => [path, fileId]));
  for (const [turnId, toolResults] of results) {
    const fileId = written.get(`/cloud/${turnId}.txt`);
    if (fileId === undefined) {
      expect([turnId, toolResults.some(isInterrupted)]).toEqual([turnId, true]);
      continue;
    }
    const { body } = await fixture.user.get<{ versions: unknown[] }>(
      `/workspaces/${fixture.workspaceId}/files/${fileId}/versions`,
    );
    expect([turnId, body.versions.length]).toEqual([turnId, 1]);
  }
}
