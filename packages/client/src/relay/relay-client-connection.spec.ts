import { PatchbayError } from '../http/patchbay-error.js';
import { ClientLockedError } from '../journal/client-locked-error.js';
import { MemoryJournals } from '../journal/memory-journals.js';
import type { SettleTool } from './tool-handler.js';

import { callOf, gate, RelayClientScene, RelayServer, three, until } from './relay-client.sample.js';

describe('RelayClient', () => {
  const scene = new RelayClientScene();
  beforeEach(() => scene.open());
  afterEach(() => scene.close());

  describe('connecting', () => {
    it('says who it is, and resumes before anything else', async () => {
      await scene.clientWith(three).connect();
      expect(scene.server.handshakes).toEqual([
        {
          token: 'token-1',
          workspaceId: 'w',
          clientId: 'client',
          name: 'patchbay',
          version: expect.stringMatching(/^\d+\./) as string,
          protocol: 1,
          tools: ['word_count'],
          maxInFlight: 8,
        },
      ]);
      expect(scene.server.events).toEqual(['client:resume']);
    });

    it('may be tried again where another client had the journal', async () => {
      const journals = new MemoryJournals();
      const url = `http://127.0.0.1:${scene.server.port}`;
      const lock = await journals.lock({ url, workspaceId: 'w', clientId: 'client' });
      const client = scene.clientWith(three, { journal: journals });
      await expect(client.connect()).rejects.toThrow(ClientLockedError);
      await lock.release();
      await client.connect();
      expect(scene.states).toEqual([{ status: 'connected' }]);
      // And gives it back when it is closed.
      await client.close();
      await (await journals.lock({ url, workspaceId: 'w', clientId: 'client' })).release();
    });

    it('sends what it was to send between two connections once the next one has resumed', async () => {
      const file = { docPath: 'r/a', path: '/r/a', content: Buffer.from('a'), sha256: 'a', baseSha256: null };
      let putting: Promise<unknown> | undefined;
      const client = scene.clientWith(three, {
        onState: ({ status }) => {
          if (status === 'reconnecting') putting ??= client.putFile(file);
        },
      });
      await client.connect();
      scene.server.socket.disconnect(true);
      await until(() => putting !== undefined);
      expect(await putting).toMatchObject({ ok: true });
      expect(scene.server.events).toEqual(['client:resume', 'client:resume', 'files:put']);
    });

    it('tries no token a second time that the server has refused', async () => {
      scene.server.refuse = () => ({ code: 'INVALID_TOKEN', message: 'Expired.' });
      await expect(scene.clientWith(three).connect()).rejects.toMatchObject({ code: 'INVALID_TOKEN' });
      expect(scene.server.handshakes).toHaveLength(1);
    });

    it('has its results taken by a server that stops before it leaves it', async () => {
      const acks: ((answer: { ok: true }) => void)[] = [];
      scene.server.answerResult = () => undefined;
      await scene.clientWith(three).connect();
      scene.server.socket.on('tool:result', (_report, ack) => acks.push(ack));
      await scene.server.deliver(callOf('1'));
      await until(() => acks.length === 1);
      await scene.server.socket.timeout(1000).emitWithAck('server:draining', { reason: 'Stop.' });
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(scene.states).toEqual([{ status: 'connected' }]);
      acks[0]!({ ok: true });
      await until(() => scene.states.length > 1);
      expect(scene.journal.get('1')).toBeNull();
    });

    it('sends nothing before its resume is answered', async () => {
      scene.server.answerResume = () => undefined;
      const client = scene.clientWith(three);
      client.connect().catch(() => undefined);
      await until(() => scene.server.resumes.length === 1);
      const file = { docPath: 'r/a', path: '/r/a', content: Buffer.from('a'), sha256: 'a', baseSha256: null };
      const put = await client.putFile(file, { timeoutMs: 50 });
      expect(put).toMatchObject({ ok: false, error: { code: 'UNAVAILABLE' } });
      expect(scene.server.events).toEqual(['client:resume']);
    });

    it('tries until the server is there', async () => {
      const { port } = scene.server;
      await scene.server.close();
      const connecting = scene.clientWith(three, { url: `http://127.0.0.1:${port}` }).connect();
      await until(() => scene.states.length >= 2);
      expect(scene.states[0]).toMatchObject({
        status: 'reconnecting',
        reason: expect.stringContaining('ECONNREFUSED') as string,
      });
      scene.server = new RelayServer();
      await scene.server.listen(port);
      await connecting;
      expect(scene.states.at(-1)).toEqual({ status: 'connected' });
    });

    it('asks for another token once when the server refuses the one it has', async () => {
      scene.server.refuse = ({ token }) =>
        token === 'new' ? null : { code: 'INVALID_TOKEN', message: 'Expired.' };
      const asked: (string | undefined)[] = [];
      const token = async (refused?: string) => (asked.push(refused), refused ? 'new' : 'old');
      await scene.clientWith(three, { token }).connect();
      expect(asked).toEqual([undefined, 'old']);
    });

    it('ends when the other token is refused as well', async () => {
      scene.server.refuse = () => ({ code: 'INVALID_TOKEN', message: 'Revoked.' });
      const token = async (refused?: string) => `${refused ?? ''}x`;
      await expect(scene.clientWith(three, { token }).connect()).rejects.toMatchObject({
        code: 'INVALID_TOKEN',
      });
      expect(scene.server.handshakes).toHaveLength(2);
    });

    it('ends with a clear error when it may not enter the workspace', async () => {
      scene.server.refuse = () => ({ code: 'FORBIDDEN', message: 'Not a member.' });
      await expect(scene.clientWith(three).connect()).rejects.toMatchObject({
        name: 'PatchbayError',
        code: 'FORBIDDEN',
        message: 'Not a member.',
      });
      expect(await scene.client!.ended).toMatchObject({ reason: 'refused' });
      expect(scene.server.handshakes).toHaveLength(1);
    });

    it('says which folder has the name of one of its own, where the server does', async () => {
      const details = { docPath: 'proj', rootId: 'r' };
      scene.server.refuse = () => ({ code: 'CONFLICT', message: 'Taken.', details });
      await expect(scene.clientWith(three).connect()).rejects.toMatchObject({ code: 'CONFLICT', details });
    });

    it('tries again when the server is stopping', async () => {
      scene.server.refuse = () =>
        scene.server.handshakes.length > 2 ? null : { code: 'UNAVAILABLE', message: 'Stopping.' };
      await scene.clientWith(three).connect();
      expect(scene.server.handshakes).toHaveLength(3);
    });

    it.each(['RATE_LIMITED', 'INTERNAL_ERROR', 'UNAVAILABLE'] as const)(
      'waits and tries again where the server answers %s to its handshake, or to the exchange of its token',
      async (code) => {
        let asked = 0;
        const token = async () => {
          if (++asked <= 2) throw new PatchbayError(code, 'Not now.');
          return 'token-1';
        };
        scene.server.refuse = () =>
          scene.server.handshakes.length <= 2 ? { code, message: 'Not now.' } : null;
        await scene.clientWith(three, { token }).connect();
        expect(scene.server.handshakes).toHaveLength(3);
        expect(scene.states.map(({ status }) => status)).toEqual([
          ...Array<string>(4).fill('reconnecting'),
          'connected',
        ]);
      },
    );

    it('comes back no sooner than a server that has too much to do has said', async () => {
      scene.server.refuse = () =>
        scene.server.handshakes.length === 1
          ? { code: 'RATE_LIMITED', message: 'Too many.', retryAfterSeconds: 0.3 }
          : null;
      await scene.clientWith(three).connect();
      const [waiting] = scene.states;
      expect(waiting).toMatchObject({ status: 'reconnecting', reason: 'Too many.' });
      expect((waiting as { delayMs: number }).delayMs).toBeGreaterThanOrEqual(300);
    });

    it('sends its results again with the next resume where the server was only too busy for this one', async () => {
      await scene.journal.receive(callOf('k1'));
      await scene.journal.start('k1', null);
      await scene.journal.finish('k1', { result: { words: 3 }, approval: null, executionMs: 1 });
      scene.server.answerResume = (entries) =>
        scene.server.resumes.length > 1
          ? { ok: true, forget: entries.map(({ callId }) => callId), resume: [] }
          : { ok: false, error: { code: 'RATE_LIMITED', message: 'Too many.' } };
      await scene.clientWith(three).connect();
      const states = scene.server.resumes.map((entries) => entries.map(({ state }) => state));
      expect(states).toEqual([
        [expect.stringMatching('succeeded|failed')],
        [expect.stringMatching('succeeded|failed')],
      ]);
    });

    it('knows every field that the server finds fault with [RELAY-26]', async () => {
      const fields = { 'roots[0].name': 'is empty' };
      scene.server.refuse = () => ({ code: 'VALIDATION_ERROR', message: 'Invalid.', fields });
      await expect(scene.clientWith(three).connect()).rejects.toMatchObject({ fields });
    });

    it('connects again after the connection was lost', async () => {
      await scene.clientWith(three).connect();
      scene.server.socket.disconnect(true);
      await until(() => scene.server.resumes.length === 2);
    });

    it('connects again when its resume is refused', async () => {
      scene.server.answerResume = () =>
        scene.server.resumes.length > 1
          ? { ok: true, forget: [], resume: [] }
          : { ok: false, error: { code: 'INTERNAL_ERROR', message: 'No disk.' } };
      await scene.clientWith(three).connect();
      expect(scene.states[0]).toMatchObject({
        status: 'reconnecting',
        reason: expect.stringContaining('No disk') as string,
      });
    });

    it.each(['TOO_LARGE', 'VALIDATION_ERROR'] as const)(
      'ends when its resume, sent again without results, is still refused with %s',
      async (code) => {
        scene.server.answerResume = () => ({ ok: false, error: { code, message: 'No.' } });
        await expect(scene.clientWith(three).connect()).rejects.toMatchObject({ code });
        expect(scene.server.resumes).toHaveLength(2);
      },
    );

    it('does not come back by itself once another connection has replaced it', async () => {
      await scene.clientWith(three).connect();
      scene.server.socket.emit('client:replaced', { message: 'Replaced.' }, () => undefined);
      scene.server.socket.disconnect(true);
      expect(await scene.client!.ended).toMatchObject({ reason: 'replaced' });
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(scene.server.handshakes).toHaveLength(1);
      expect(scene.states.map(({ status }) => status)).toEqual(['connected', 'ended']);
    });

    it('leaves a server that stops, and looks for another', async () => {
      await scene.clientWith(three).connect();
      expect(
        await scene.server.socket.timeout(1000).emitWithAck('server:draining', { reason: 'Stop.' }),
      ).toEqual({
        ok: true,
      });
      await until(() => scene.server.resumes.length === 2);
      expect(scene.states).toContainEqual(expect.objectContaining({ reason: 'The server is stopping.' }));
    });

    it('hands in a new token again where the server could not take it just then', async () => {
      const token = async (refused?: string) => (refused ? `${refused}+` : 'token-1');
      await scene.clientWith(three, { token }).connect();
      scene.server.answerRefresh = () => ({ ok: false, error: { code: 'UNAVAILABLE', message: 'Not now.' } });
      await scene.server.socket.timeout(1000).emitWithAck('auth:expiring', { expiresAt: '' });
      await until(() => scene.server.tokens.length === 1);
      scene.server.answerRefresh = () => ({ ok: true, expiresAt: '' });
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      await until(() => scene.server.tokens.length === 2);
    }, 15_000);

    it('hands in no token that the server has already', async () => {
      await scene.clientWith(three).connect();
      const expiresAt = new Date().toISOString();
      expect(await scene.server.socket.timeout(1000).emitWithAck('auth:expiring', { expiresAt })).toEqual({
        ok: true,
      });
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(scene.server.tokens).toEqual([]);
    });

    it('hands in a new token before the old one ends', async () => {
      const token = async (refused?: string) => (refused ? `${refused}+` : 'token-1');
      await scene.clientWith(three, { token }).connect();
      await scene.server.socket.timeout(1000).emitWithAck('auth:expiring', { expiresAt: '' });
      await until(() => scene.server.tokens.length === 1);
      await scene.server.socket.timeout(1000).emitWithAck('auth:expiring', { expiresAt: '' });
      await until(() => scene.server.tokens.length === 2);
      expect(scene.server.tokens).toEqual(['token-1+', 'token-1++']);
    });
  });

  describe('closing', () => {
    it('ends a client that is still settling what was interrupted', async () => {
      await scene.journal.receive(callOf('1'));
      await scene.journal.start('1', null);
      const { opened, open } = gate();
      const settle: SettleTool = () => opened;
      const tools = { word_count: { run: three, settle, recover: three } };
      const connecting = scene.clientWith(three, { tools }).connect();
      const closing = scene.client!.close();
      open();
      await expect(connecting).rejects.toThrow('The client was closed.');
      await closing;
      expect(await scene.client!.ended).toMatchObject({ reason: 'closed' });
      expect(scene.server.resumes).toEqual([]);
    });

    it('waits for what has started, does not stop it, takes nothing new, and sends its result', async () => {
      const { opened, open } = gate();
      const aborted: boolean[] = [];
      await scene
        .clientWith(async (call, context) => {
          await context.start();
          await opened;
          aborted.push(context.signal.aborted);
          return three(call, context);
        })
        .connect();
      await scene.server.deliver(callOf('1'));
      await until(() => scene.journal.get('1')?.state === 'running');
      const closing = scene.client!.close();
      expect(await scene.server.deliver(callOf('2'))).toMatchObject({ error: { code: 'UNAVAILABLE' } });
      expect(scene.journal.get('2')).toBeNull();
      open();
      await closing;
      expect([aborted, scene.server.results.length]).toEqual([[false], 1]);
      expect(scene.states.map(({ status }) => status)).toEqual(['connected', 'ended']);
      expect(await scene.client!.ended).toMatchObject({ reason: 'closed' });
    });
  });
});
