import { readdir, rm } from 'node:fs/promises';
import { onOneServer, onServersInTurn } from '../support/fault-fixture.js';
import { waitFor } from '../support/wait-for.js';

import.meta.jest.setTimeout(90_000);

const onServer = onOneServer();
const inFixture = onServersInTurn();
/** It keeps an unacknowledged call for a client that left for 0.3 s. */
const onImpatientServer = onOneServer({ graceMs: 300 });

/** Where the client is killed, which attempts the call takes, and whether a person was asked before. */
const STEPS: [moment: string, pauseAt: string, attempts: number[]][] = [
  ['before it has written down the call', 'before:received', [1, 2]],
  ['once it has written down the call', 'after:received', [1]],
  ['before it asks for approval', 'before:awaiting_approval', [1]],
  ['once it has the approval', 'before:running', [1]],
  ['once it has begun', 'after:running', [1]],
  ['once it has said what it is about to write', 'after:intent', [1]],
  ['before the file is put in its place', 'before:place', [1]],
  ['once the file is in its place', 'after:place', [1]],
  ['once it has written down the result', 'after:finished', [1]],
];

describe('A client that is killed', () => {
  it.concurrent.each(STEPS)(
    '%s executes the call once and reports it once',
    async (_moment, pauseAt, attempts) => {
      await onServer(async (fixture) => {
        const editor = await fixture.editor();
        const client = await fixture.connect(editor, { pauseAt });
        await fixture.post('t1');
        await client.says('paused');
        await client.kill();
        expect((await fixture.get('t1')).status).toBe(202);
        await fixture.connect(editor);
        await fixture.expectOnce('t1', editor);
        expect(await fixture.attempts('t1')).toEqual(attempts);
      })();
    },
  );

  it.concurrent(
    'between its log line and its result logs the call twice and executes it once',
    onServer(async (fixture) => {
      const editor = await fixture.editor();
      const client = await fixture.connect(editor, { pauseAt: 'before:finished' });
      await fixture.post('t1');
      await client.says('paused');
      await client.kill();
      const next = await fixture.connect(editor);
      expect(await fixture.get('t1', 20_000)).toMatchObject({ status: 200 });
      const [callId] = client.executed;
      expect(callId).toBeDefined();
      expect(next.executed).toEqual([callId]);
      expect([client.placed, next.placed]).toEqual([1, 0]);
      expect((await fixture.steps('t1')).filter((step) => step === 'ResultReceived')).toHaveLength(1);
    }),
  );

  it.concurrent.each([
    ['before the file is in its place, writes nothing', 'before:place', false],
    ['once the file is in its place, reports and uploads it', 'after:place', true],
  ])('and whose call is cancelled meanwhile: %s', async (_moment, pauseAt, isWritten) => {
    await onServer(async (fixture) => {
      const editor = await fixture.editor();
      const client = await fixture.connect(editor, { pauseAt });
      await fixture.post('t1');
      await client.says('paused');
      await client.kill();
      expect((await fixture.cancel('t1')).status).toBe(200);
      await fixture.connect(editor);
      if (isWritten)
        await waitFor(async () => (await fixture.steps('t1')).includes('LateResult'), 'the late result');
      expect(await fixture.fileOf(editor, 't1')).toBe(isWritten ? 't1\n' : null);
      expect(await readdir(editor.root)).toEqual(isWritten ? ['t1.txt'] : []);
      const late = (await fixture.trail('t1')).filter(({ name }) => name === 'Tool.CreateFile.LateResult');
      expect(late.map(({ fields }) => fields.success)).toEqual(isWritten ? [true] : []);
      const read = { tool: 'read', args: { path: '/project/t1.txt' } };
      const { status } = await fixture.user.post(`/workspaces/${fixture.workspaceId}/tools`, read);
      expect(status).toBe(isWritten ? 200 : 404);
    })();
  });

  it.concurrent.each([
    ['once it has begun', 'after:running', null],
    ['before the file is in its place', 'before:place', null],
    ['once the file is in its place', 'after:place', 't1\n'],
  ])(
    '%s, and comes back without its journal, does not know the outcome, and is not sent the call again [RELAY-4]',
    async (_moment, pauseAt, left) => {
      await onServer(async (fixture) => {
        const editor = await fixture.editor();
        editor.clientId = 'lost-its-home';
        const client = await fixture.connect(editor, { pauseAt });
        await fixture.post('t1');
        await client.says('paused');
        await fixture.reaches('t1', 'running');
        await client.kill();
        await rm(editor.home, { recursive: true });
        const next = await fixture.connect({ ...editor, sameProject: true });
        const { status, body } = await fixture.get('t1', 20_000);
        expect({ status, ended: body.result.toolResults }).toMatchObject({
          status: 200,
          ended: [{ status: 'failed', result: null, error: { code: 'OUTCOME_UNKNOWN' } }],
        });
        // It works on, and has taken what comes after; the call was not among that.
        await fixture.post('t2', 20_000);
        expect(next.executed).toHaveLength(1);
        expect(await fixture.attempts('t1')).toEqual([1]);
        expect(await fixture.fileOf(editor, 't1')).toBe(left);
        expect(await fixture.fileOf(editor, 't2')).toBe('t2\n');
      })();
    },
  );

  it.concurrent(
    'before it has received the call leaves the call to another client of its user',
    onImpatientServer(async (fixture) => {
      const [first, second] = [await fixture.editor('first'), await fixture.editor('second')];
      const client = await fixture.connect(first);
      client.signal('SIGSTOP');
      await fixture.post('t1');
      await fixture.reaches('t1', 'forwarded');
      await fixture.connect(second);
      await client.kill();
      await fixture.expectOnce('t1', second);
      expect(await fixture.attempts('t1')).toEqual([1, 2]);
    }),
  );

  it.concurrent(
    'during a call keeps the call, although another client is connected',
    onImpatientServer(async (fixture) => {
      const [first, second] = [await fixture.editor('first'), await fixture.editor('second')];
      const client = await fixture.connect(first, { pauseAt: 'after:intent' });
      await fixture.post('t1');
      await client.says('paused');
      await fixture.reaches('t1', 'running');
      await client.kill();
      await fixture.connect(second);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      expect((await fixture.get('t1')).body.result.toolCalls).toMatchObject([
        { status: 'running', attempt: 1 },
      ]);
      await fixture.connect(first);
      await fixture.expectOnce('t1', first);
    }),
  );

  it.concurrent(
    'together with the server finishes the call when both are back',
    inFixture(async (fixture) => {
      const editor = await fixture.editor();
      const client = await fixture.connect(editor, { pauseAt: 'after:place' });
      await fixture.post('t1');
      await client.says('paused');
      await Promise.all([client.kill(), fixture.killServer()]);
      await fixture.startServer();
      await fixture.connect(editor);
      await fixture.expectOnce('t1', editor);
      expect(await fixture.attempts('t1')).toEqual([1]);
    }),
  );
});
