import { describeOnMongoBackend } from '../support/backend.js';
import { readTrail } from '../support/invariants.js';
import { type Editor, type FaultFixture, onServersInTurn } from '../support/fault-fixture.js';

import.meta.jest.setTimeout(90_000);
const inFixture = onServersInTurn();

/** Has the editor's client execute t1; what it says from then on does not reach the server. */
async function executeUnheard(fixture: FaultFixture, editor: Editor): Promise<void> {
  const client = await fixture.connect(editor, { pauseAt: 'before:intent' });
  await fixture.post('t1');
  await client.says('paused');
  editor.proxy.hold('toServer');
  client.signal('SIGUSR2');
  await client.says('Tool.CreateFile.Executed');
}

describe('A server that is killed', () => {
  it.concurrent(
    'after it has accepted a turn has the turn executed when a client connects',
    inFixture(async (fixture) => {
      const editor = await fixture.editor();
      expect((await fixture.post('t1')).status).toBe(202);
      await fixture.restartServer();
      await fixture.connect(editor);
      await fixture.expectOnce('t1', editor);
      expect(await fixture.attempts('t1')).toEqual([1]);
    }),
  );

  it.concurrent(
    'after it has sent a call that never arrived sends the call again',
    inFixture(async (fixture) => {
      const editor = await fixture.editor();
      await fixture.connect(editor);
      editor.proxy.hold('toClient');
      await fixture.post('t1');
      await fixture.reaches('t1', 'forwarded');
      await fixture.killServer();
      editor.proxy.reset();
      await fixture.startServer();
      await fixture.expectOnce('t1', editor);
      expect(await fixture.attempts('t1')).toEqual([1, 2]);
      const released = (await fixture.trail('t1')).find(({ name }) => name === 'Tool.CreateFile.Released');
      expect(released?.fields).toMatchObject({ reason: 'unknown_to_client' });
    }),
  );

  it.concurrent(
    'during the acknowledgement of a call has the call executed after its restart and not before',
    inFixture(async (fixture) => {
      const editor = await fixture.editor();
      await fixture.connect(editor);
      editor.proxy.hold('toServer');
      await fixture.post('t1');
      await editor.proxy.passed('"tool:call"');
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(await fixture.fileOf(editor, 't1')).toBeNull();
      await fixture.reaches('t1', 'forwarded');
      await fixture.killServer();
      editor.proxy.reset();
      await fixture.startServer();
      await fixture.expectOnce('t1', editor);
      expect(await fixture.attempts('t1')).toEqual([1]);
      const steps = ['Accepted', 'Forwarded', 'AwaitingApproval', 'Running', 'ResultReceived'];
      expect(await fixture.steps('t1')).toEqual(steps);
    }),
  );

  it.concurrent(
    'during the upload of a result accepts the result after its restart',
    inFixture(async (fixture) => {
      const editor = await fixture.editor();
      await executeUnheard(fixture, editor);
      expect(await fixture.fileOf(editor, 't1')).toBe('t1\n');
      await fixture.killServer();
      editor.proxy.reset();
      await fixture.startServer();
      await fixture.expectOnce('t1', editor);
      expect(await fixture.attempts('t1')).toEqual([1]);
      const steps = [
        'Accepted',
        'Forwarded',
        'Acknowledged',
        'AwaitingApproval',
        'Running',
        'ResultReceived',
      ];
      expect(await fixture.steps('t1')).toEqual(steps);
    }),
  );

  it.concurrent(
    'while a person is asked continues from the question',
    inFixture(async (fixture) => {
      const editor = await fixture.editor();
      const client = await fixture.connect(editor, { yes: false });
      await fixture.post('t1');
      await fixture.reaches('t1', 'awaiting_approval');
      await fixture.restartServer();
      await client.says('Connected again.', 20_000);
      await fixture.reaches('t1', 'awaiting_approval');
      expect(await fixture.fileOf(editor, 't1')).toBeNull();
      await client.kill();
      await fixture.connect(editor, { yes: true });
      await fixture.expectOnce('t1', editor);
      expect(await fixture.attempts('t1')).toEqual([1]);
    }),
  );

  it.concurrent(
    'during the write of a call gets its result after the restart',
    inFixture(async (fixture) => {
      const editor = await fixture.editor();
      const client = await fixture.connect(editor, { pauseAt: 'before:intent' });
      await fixture.post('t1');
      await client.says('paused');
      await fixture.reaches('t1', 'running');
      await fixture.restartServer();
      await client.says('Connected again.', 20_000);
      expect((await fixture.get('t1')).body.result.toolCalls).toMatchObject([
        { status: 'running', attempt: 1 },
      ]);
      await client.kill();
      await fixture.connect(editor);
      await fixture.expectOnce('t1', editor);
      expect(await fixture.attempts('t1')).toEqual([1]);
    }),
  );

  it.concurrent(
    'between the commit of a result and its acknowledgement recognises the repeated result [RELAY-8]',
    inFixture(async (fixture) => {
      const editor = await fixture.editor();
      const client = await fixture.connect(editor, { pauseAt: 'before:intent' });
      await fixture.post('t1');
      await client.says('paused');
      editor.proxy.hold('toClient');
      client.signal('SIGUSR2');
      expect((await fixture.get('t1', 20_000)).status).toBe(200);
      await fixture.killServer();
      editor.proxy.reset();
      await fixture.startServer();
      await client.says('Connected again.', 20_000);
      await fixture.expectOnce('t1', editor);
      expect((await fixture.steps('t1')).slice(-2)).toEqual(['ResultReceived', 'DuplicateResult']);
      await fixture.restartServer();
      await fixture.expectOnce('t1', editor);
      expect(await fixture.steps('t1')).toHaveLength(
        (await fixture.steps('t1')).indexOf('DuplicateResult') + 1,
      );
    }),
  );

  it.concurrent(
    'repeatedly during one call has the call executed once',
    inFixture(async (fixture) => {
      const editor = await fixture.editor();
      await executeUnheard(fixture, editor);
      for (let round = 0; round < 3; round += 1) await fixture.restartServer();
      editor.proxy.reset();
      await fixture.expectOnce('t1', editor);
    }),
  );

  it.concurrent(
    'does not lose or mix up the calls of two users',
    inFixture(async (fixture) => {
      const mine = await fixture.editor('mine');
      const other = await fixture.editor('other', await fixture.member());
      await fixture.connect(mine);
      await fixture.connect(other);
      mine.proxy.hold('toClient');
      await fixture.post('t1');
      await fixture.reaches('t1', 'forwarded');
      await fixture.killServer();
      mine.proxy.reset();
      await fixture.startServer();
      await fixture.expectOnce('t1', mine);
      expect((await fixture.trail('t1')).map(({ actor }) => actor.userId)).not.toContain(other.user.id);
    }),
  );
});

describe('An orchestrator that posts the same turn again', () => {
  it.concurrent(
    'during and after an outage gets the turn that it has created before',
    inFixture(async (fixture) => {
      const editor = await fixture.editor();
      await fixture.connect(editor);
      editor.proxy.hold('toClient');
      const unanswered = fixture.post('t1', 20_000);
      const lost = expect(unanswered).rejects.toThrow();
      await fixture.reaches('t1', 'forwarded');
      await fixture.killServer();
      await lost;
      await expect(fixture.post('t1')).rejects.toThrow();
      editor.proxy.reset();
      await fixture.startServer();
      const again = await fixture.post('t1', 20_000);
      expect(again).toMatchObject({ status: 200, body: { result: { kind: 'final', turnId: 't1' } } });
      expect((await fixture.post('t1')).body).toEqual(again.body);
      await fixture.expectOnce('t1', editor);
    }),
  );

  it.concurrent(
    'gets the same answer when the first one was lost',
    inFixture(async (fixture) => {
      const editor = await fixture.editor();
      await fixture.connect(editor);
      const first = await fixture.post('t1', 20_000);
      await fixture.restartServer();
      expect(await fixture.post('t1', 20_000)).toMatchObject({ status: 200, body: first.body });
      await fixture.expectOnce('t1', editor);
    }),
  );
});

describeOnMongoBackend('A server that is killed while its projector moves events into the trail', () => {
  it.concurrent.each([
    ['before they are in the trail', 'before:trail'],
    ['when they are in the trail and still in the outboxes', 'after:trail'],
  ])('%s leaves each there once, without a gap', (_moment, pauseAt) =>
    inFixture(async (fixture) => {
      // Reading it puts into the trail what was before.
      const before = await readTrail(fixture.user, fixture.workspaceId);
      await fixture.restartServer(pauseAt);
      await fixture.post('t1');
      await fixture.server.says(`paused at ${pauseAt}`);
      // They wait behind it.
      await fixture.post('t2');
      await fixture.cancel('t1');
      await fixture.restartServer();
      const trail = await readTrail(fixture.user, fixture.workspaceId);
      expect(trail.map(({ seq }) => seq)).toEqual(trail.map((_, at) => at + 1));
      expect(new Set(trail.map(({ eventId }) => eventId)).size).toBe(trail.length);
      expect(trail.slice(0, before.length)).toEqual(before);
      expect(await fixture.steps('t1')).toEqual(['Accepted', 'Cancelled']);
      expect(await fixture.steps('t2')).toEqual(['Accepted']);
    })(),
  );
});

describe('A server that is told to stop', () => {
  it.concurrent(
    'exits with 0 during a call, and the client sends the result to the next server [RELAY-13]',
    inFixture(async (fixture) => {
      const editor = await fixture.editor();
      const client = await fixture.connect(editor, { pauseAt: 'before:intent' });
      await fixture.post('t1');
      await fixture.reaches('t1', 'running');
      fixture.server.signal('SIGTERM');
      expect(await fixture.server.exited).toEqual({ code: 0, signal: null });
      await fixture.startServer();
      await client.says('Connected again.', 20_000);
      await client.kill();
      await fixture.connect(editor);
      await fixture.expectOnce('t1', editor);
      expect(await fixture.attempts('t1')).toEqual([1]);
    }),
  );

  it.concurrent(
    'answers requests that wait for a turn before it exits',
    inFixture(async (fixture) => {
      const editor = await fixture.editor();
      const client = await fixture.connect(editor, { yes: false });
      const waiting = fixture.post('t1', 60_000);
      await fixture.reaches('t1', 'awaiting_approval');
      fixture.server.signal('SIGTERM');
      expect(await waiting).toMatchObject({ status: 202, body: { result: { status: 'open' } } });
      expect(await fixture.server.exited).toEqual({ code: 0, signal: null });
      await fixture.startServer();
      await client.says('Connected again.', 20_000);
      await client.kill();
      await fixture.connect(editor);
      await fixture.expectOnce('t1', editor);
    }),
  );
});
