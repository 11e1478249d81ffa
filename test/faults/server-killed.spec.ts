import { describeOnMongoBackend } from '../support/backend.js';
import { readTrail } from '../support/invariants.js';
import { type Editor, type FaultScene, onServersInTurn } from '../support/fault-scene.js';

import.meta.jest.setTimeout(90_000);
const inScene = onServersInTurn();

/** Has the editor's client execute t1; what it says from then on does not reach the server. */
async function executeUnheard(scene: FaultScene, editor: Editor): Promise<void> {
  const client = await scene.connect(editor, { pauseAt: 'before:intent' });
  await scene.post('t1');
  await client.says('paused');
  editor.proxy.hold('toServer');
  client.signal('SIGUSR2');
  await client.says('Tool.CreateFile.Executed');
}

describe('A server that is killed', () => {
  it.concurrent(
    'after accepting a turn has it executed once a client is there',
    inScene(async (scene) => {
      const editor = await scene.editor();
      expect((await scene.post('t1')).status).toBe(202);
      await scene.restartServer();
      await scene.connect(editor);
      await scene.expectOnce('t1', editor);
      expect(await scene.attempts('t1')).toEqual([1]);
    }),
  );

  it.concurrent(
    'after forwarding a call that never arrived sends it again',
    inScene(async (scene) => {
      const editor = await scene.editor();
      await scene.connect(editor);
      editor.proxy.hold('toClient');
      await scene.post('t1');
      await scene.reaches('t1', 'forwarded');
      await scene.killServer();
      editor.proxy.reset();
      await scene.startServer();
      await scene.expectOnce('t1', editor);
      expect(await scene.attempts('t1')).toEqual([1, 2]);
      const released = (await scene.trail('t1')).find(({ name }) => name === 'Tool.CreateFile.Released');
      expect(released?.fields).toMatchObject({ reason: 'unknown_to_client' });
    }),
  );

  it.concurrent(
    'after forwarding a call whose acknowledgement is on its way has it executed at the return, and not before',
    inScene(async (scene) => {
      const editor = await scene.editor();
      await scene.connect(editor);
      editor.proxy.hold('toServer');
      await scene.post('t1');
      await editor.proxy.passed('"tool:call"');
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(await scene.fileOf(editor, 't1')).toBeNull();
      await scene.reaches('t1', 'forwarded');
      await scene.killServer();
      editor.proxy.reset();
      await scene.startServer();
      await scene.expectOnce('t1', editor);
      expect(await scene.attempts('t1')).toEqual([1]);
      const steps = ['Accepted', 'Forwarded', 'AwaitingApproval', 'Running', 'ResultReceived'];
      expect(await scene.steps('t1')).toEqual(steps);
    }),
  );

  it.concurrent(
    'while the result of a call is on its way takes it at the return',
    inScene(async (scene) => {
      const editor = await scene.editor();
      await executeUnheard(scene, editor);
      expect(await scene.fileOf(editor, 't1')).toBe('t1\n');
      await scene.killServer();
      editor.proxy.reset();
      await scene.startServer();
      await scene.expectOnce('t1', editor);
      expect(await scene.attempts('t1')).toEqual([1]);
      const steps = [
        'Accepted',
        'Forwarded',
        'Acknowledged',
        'AwaitingApproval',
        'Running',
        'ResultReceived',
      ];
      expect(await scene.steps('t1')).toEqual(steps);
    }),
  );

  it.concurrent(
    'while a person is asked goes on from there',
    inScene(async (scene) => {
      const editor = await scene.editor();
      const client = await scene.connect(editor, { yes: false });
      await scene.post('t1');
      await scene.reaches('t1', 'awaiting_approval');
      await scene.restartServer();
      await client.says('Connected again.', 20_000);
      await scene.reaches('t1', 'awaiting_approval');
      expect(await scene.fileOf(editor, 't1')).toBeNull();
      await client.kill();
      await scene.connect(editor, { yes: true });
      await scene.expectOnce('t1', editor);
      expect(await scene.attempts('t1')).toEqual([1]);
    }),
  );

  it.concurrent(
    'while a call is written learns of its result',
    inScene(async (scene) => {
      const editor = await scene.editor();
      const client = await scene.connect(editor, { pauseAt: 'before:intent' });
      await scene.post('t1');
      await client.says('paused');
      await scene.reaches('t1', 'running');
      await scene.restartServer();
      await client.says('Connected again.', 20_000);
      expect((await scene.get('t1')).body.result.toolCalls).toMatchObject([
        { status: 'running', attempt: 1 },
      ]);
      await client.kill();
      await scene.connect(editor);
      await scene.expectOnce('t1', editor);
      expect(await scene.attempts('t1')).toEqual([1]);
    }),
  );

  it.concurrent(
    'between the commit of a result and its acknowledgement knows the result when it comes again [RELAY-8]',
    inScene(async (scene) => {
      const editor = await scene.editor();
      const client = await scene.connect(editor, { pauseAt: 'before:intent' });
      await scene.post('t1');
      await client.says('paused');
      editor.proxy.hold('toClient');
      client.signal('SIGUSR2');
      expect((await scene.get('t1', 20_000)).status).toBe(200);
      await scene.killServer();
      editor.proxy.reset();
      await scene.startServer();
      await client.says('Connected again.', 20_000);
      await scene.expectOnce('t1', editor);
      expect((await scene.steps('t1')).slice(-2)).toEqual(['ResultReceived', 'DuplicateResult']);
      await scene.restartServer();
      await scene.expectOnce('t1', editor);
      expect(await scene.steps('t1')).toHaveLength((await scene.steps('t1')).indexOf('DuplicateResult') + 1);
    }),
  );

  it.concurrent(
    'again and again during one call still has it executed once',
    inScene(async (scene) => {
      const editor = await scene.editor();
      await executeUnheard(scene, editor);
      for (let round = 0; round < 3; round += 1) await scene.restartServer();
      editor.proxy.reset();
      await scene.expectOnce('t1', editor);
    }),
  );

  it.concurrent(
    'does not lose or mix up the calls of two users',
    inScene(async (scene) => {
      const mine = await scene.editor('mine');
      const other = await scene.editor('other', await scene.member());
      await scene.connect(mine);
      await scene.connect(other);
      mine.proxy.hold('toClient');
      await scene.post('t1');
      await scene.reaches('t1', 'forwarded');
      await scene.killServer();
      mine.proxy.reset();
      await scene.startServer();
      await scene.expectOnce('t1', mine);
      expect((await scene.trail('t1')).map(({ actor }) => actor.userId)).not.toContain(other.user.id);
    }),
  );
});

describe('An orchestrator that posts the same turn again', () => {
  it.concurrent(
    'during and after an outage gets the turn that it made before',
    inScene(async (scene) => {
      const editor = await scene.editor();
      await scene.connect(editor);
      editor.proxy.hold('toClient');
      const unanswered = scene.post('t1', 20_000);
      const lost = expect(unanswered).rejects.toThrow();
      await scene.reaches('t1', 'forwarded');
      await scene.killServer();
      await lost;
      await expect(scene.post('t1')).rejects.toThrow();
      editor.proxy.reset();
      await scene.startServer();
      const again = await scene.post('t1', 20_000);
      expect(again).toMatchObject({ status: 200, body: { result: { kind: 'final', turnId: 't1' } } });
      expect((await scene.post('t1')).body).toEqual(again.body);
      await scene.expectOnce('t1', editor);
    }),
  );

  it.concurrent(
    'after its answer was lost on the way gets the same answer',
    inScene(async (scene) => {
      const editor = await scene.editor();
      await scene.connect(editor);
      const first = await scene.post('t1', 20_000);
      await scene.restartServer();
      expect(await scene.post('t1', 20_000)).toMatchObject({ status: 200, body: first.body });
      await scene.expectOnce('t1', editor);
    }),
  );
});

describeOnMongoBackend('A server that is killed while its projector moves events into the trail', () => {
  it.concurrent.each([
    ['before they are in the trail', 'before:trail'],
    ['when they are in the trail and still in the outboxes', 'after:trail'],
  ])('%s leaves each there once, without a gap', (_moment, pauseAt) =>
    inScene(async (scene) => {
      // Reading it puts into the trail what was before.
      const before = await readTrail(scene.user, scene.workspaceId);
      await scene.restartServer(pauseAt);
      await scene.post('t1');
      await scene.server.says(`paused at ${pauseAt}`);
      // They wait behind it.
      await scene.post('t2');
      await scene.cancel('t1');
      await scene.restartServer();
      const trail = await readTrail(scene.user, scene.workspaceId);
      expect(trail.map(({ seq }) => seq)).toEqual(trail.map((_, at) => at + 1));
      expect(new Set(trail.map(({ eventId }) => eventId)).size).toBe(trail.length);
      expect(trail.slice(0, before.length)).toEqual(before);
      expect(await scene.steps('t1')).toEqual(['Accepted', 'Cancelled']);
      expect(await scene.steps('t2')).toEqual(['Accepted']);
    })(),
  );
});

describe('A server that is told to stop', () => {
  it.concurrent(
    'ends with 0 while a call is in hand, and its client brings the result to the next server [RELAY-13]',
    inScene(async (scene) => {
      const editor = await scene.editor();
      const client = await scene.connect(editor, { pauseAt: 'before:intent' });
      await scene.post('t1');
      await scene.reaches('t1', 'running');
      scene.server.signal('SIGTERM');
      expect(await scene.server.exited).toEqual({ code: 0, signal: null });
      await scene.startServer();
      await client.says('Connected again.', 20_000);
      await client.kill();
      await scene.connect(editor);
      await scene.expectOnce('t1', editor);
      expect(await scene.attempts('t1')).toEqual([1]);
    }),
  );

  it.concurrent(
    'answers who waits for a turn before it goes',
    inScene(async (scene) => {
      const editor = await scene.editor();
      const client = await scene.connect(editor, { yes: false });
      const waiting = scene.post('t1', 60_000);
      await scene.reaches('t1', 'awaiting_approval');
      scene.server.signal('SIGTERM');
      expect(await waiting).toMatchObject({ status: 202, body: { result: { status: 'open' } } });
      expect(await scene.server.exited).toEqual({ code: 0, signal: null });
      await scene.startServer();
      await client.says('Connected again.', 20_000);
      await client.kill();
      await scene.connect(editor);
      await scene.expectOnce('t1', editor);
    }),
  );
});
