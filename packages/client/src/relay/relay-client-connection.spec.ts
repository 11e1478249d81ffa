import type { RelayError } from '@patchbay/protocol';
import { PatchbayError } from '../http/patchbay-error.js';
import { ClientLockedError } from '../journal/client-locked-error.js';
import { MemoryJournals } from '../journal/memory-journals.js';
import type { SettleTool } from './tool-handler.js';

import {
  callOf,
  gate,
  refused,
  RelayClientFixture,
  RelayServer,
  three,
  until,
} from './relay-client.sample.js';

describe('RelayClient', () => {
  const fixture = new RelayClientFixture();
  beforeEach(() => fixture.open());
  afterEach(() => fixture.close());

  describe('connecting', () => {
    it('sends its identity, and resumes before anything else', async () => {
      await fixture.clientWith(three).connect();
      expect(fixture.server.handshakes).toEqual([
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
      expect(fixture.server.events).toEqual(['client:resume']);
    });

    it('can be retried after another client held the journal', async () => {
      const journals = new MemoryJournals();
      const url = `http://127.0.0.1:${fixture.server.port}`;
      const lock = await journals.lock({ url, workspaceId: 'w', clientId: 'client' });
      const client = fixture.clientWith(three, { journal: journals });
      await expect(client.connect()).rejects.toThrow(ClientLockedError);
      await lock.release();
      await client.connect();
      expect(fixture.states).toEqual([{ status: 'connected' }]);
      // Closing releases it.
      await client.close();
      await (await journals.lock({ url, workspaceId: 'w', clientId: 'client' })).release();
    });

    const file = { docPath: 'r/a', path: '/r/a', content: Buffer.from('a'), sha256: 'a', baseSha256: null };

    it('sends what was queued between two connections after the next resume', async () => {
      let putting: Promise<unknown> | undefined;
      const client = fixture.clientWith(three, {
        onState: ({ status }) => {
          if (status === 'reconnecting') putting ??= client.putFile(file);
        },
      });
      await client.connect();
      fixture.server.disconnect();
      await until(() => putting !== undefined);
      expect(await putting).toMatchObject({ ok: true });
      expect(fixture.server.events).toEqual(['client:resume', 'client:resume', 'files:put']);
    });

    it('does not try a rejected token a second time', async () => {
      fixture.server.refuse = () => ({ code: 'INVALID_TOKEN', message: 'Expired.' });
      await expect(fixture.clientWith(three).connect()).rejects.toMatchObject({ code: 'INVALID_TOKEN' });
      expect(fixture.server.handshakes).toHaveLength(1);
    });

    it('delivers its results to a stopping server before it disconnects', async () => {
      const acks: ((answer: { ok: true }) => void)[] = [];
      fixture.server.answerResult = () => undefined;
      await fixture.clientWith(three).connect();
      fixture.server.socket.on('tool:result', (_report, ack) => acks.push(ack));
      await fixture.server.deliver(callOf('1'));
      await until(() => acks.length === 1);
      await fixture.server.socket.timeout(1000).emitWithAck('server:draining', { reason: 'Stop.' });
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(fixture.states).toEqual([{ status: 'connected' }]);
      acks[0]!({ ok: true });
      await until(() => fixture.states.length > 1);
      expect(fixture.journal.get('1')).toBeNull();
    });

    it('sends nothing before its resume is answered', async () => {
      fixture.server.answerResume = () => undefined;
      const client = fixture.clientWith(three);
      client.connect().catch(() => undefined);
      await until(() => fixture.server.resumes.length === 1);
      const put = await client.putFile(file, { timeoutMs: 50 });
      expect(put).toMatchObject({ ok: false, error: { code: 'UNAVAILABLE' } });
      expect(fixture.server.events).toEqual(['client:resume']);
    });

    it('retries until the server is reachable', async () => {
      const { port } = fixture.server;
      await fixture.server.close();
      const connecting = fixture.clientWith(three, { url: `http://127.0.0.1:${port}` }).connect();
      await until(() => fixture.states.length >= 2);
      expect(fixture.states[0]).toMatchObject({
        status: 'reconnecting',
        reason: expect.stringContaining('ECONNREFUSED') as string,
      });
      fixture.server = new RelayServer();
      await fixture.server.listen(port);
      await connecting;
      expect(fixture.states.at(-1)).toEqual({ status: 'connected' });
    });

    it('asks for another token once when the server rejects the first', async () => {
      fixture.server.refuse = ({ token }) =>
        token === 'new' ? null : { code: 'INVALID_TOKEN', message: 'Expired.' };
      const asked: (string | undefined)[] = [];
      const token = async (refused?: string) => (asked.push(refused), refused ? 'new' : 'old');
      await fixture.clientWith(three, { token }).connect();
      expect(asked).toEqual([undefined, 'old']);
    });

    it('ends when the second token is rejected as well', async () => {
      fixture.server.refuse = () => ({ code: 'INVALID_TOKEN', message: 'Revoked.' });
      const token = async (refused?: string) => `${refused ?? ''}x`;
      await expect(fixture.clientWith(three, { token }).connect()).rejects.toMatchObject({
        code: 'INVALID_TOKEN',
      });
      expect(fixture.server.handshakes).toHaveLength(2);
    });

    it.each<[string, RelayError]>([
      ['its message', { code: 'FORBIDDEN', message: 'Not a member.' }],
      [
        'the folder that has the name of one of its own',
        { code: 'CONFLICT', message: 'Taken.', details: { docPath: 'proj', rootId: 'r' } },
      ],
      [
        'every rejected field [RELAY-26]',
        { code: 'VALIDATION_ERROR', message: 'Invalid.', fields: { 'roots[0].name': 'is empty' } },
      ],
    ])('ends when the server refuses it, with %s', async (_what, refusal) => {
      fixture.server.refuse = () => refusal;
      const error = { name: 'PatchbayError', ...refusal };
      await expect(fixture.clientWith(three).connect()).rejects.toMatchObject(error);
      expect(await fixture.client!.ended).toMatchObject({ reason: 'refused' });
      expect(fixture.server.handshakes).toHaveLength(1);
    });

    it.each(['RATE_LIMITED', 'INTERNAL_ERROR', 'UNAVAILABLE'] as const)(
      'retries after %s to its handshake or its token exchange',
      async (code) => {
        let asked = 0;
        const token = async () => {
          if (++asked <= 2) throw new PatchbayError(code, 'Not now.');
          return 'token-1';
        };
        fixture.server.refuse = () =>
          fixture.server.handshakes.length <= 2 ? { code, message: 'Not now.' } : null;
        await fixture.clientWith(three, { token }).connect();
        expect(fixture.server.handshakes).toHaveLength(3);
        expect(fixture.states.map(({ status }) => status)).toEqual([
          ...Array<string>(4).fill('reconnecting'),
          'connected',
        ]);
      },
    );

    it('retries no sooner than an overloaded server asks', async () => {
      fixture.server.refuse = () =>
        fixture.server.handshakes.length === 1
          ? { code: 'RATE_LIMITED', message: 'Too many.', retryAfterSeconds: 0.3 }
          : null;
      await fixture.clientWith(three).connect();
      const [waiting] = fixture.states;
      expect(waiting).toMatchObject({ status: 'reconnecting', reason: 'Too many.' });
      expect((waiting as { delayMs: number }).delayMs).toBeGreaterThanOrEqual(300);
    });

    it('sends its results again with the next resume if the server was too busy for the first', async () => {
      await fixture.finished('1');
      fixture.server.answerResume = (entries) =>
        fixture.server.resumes.length > 1
          ? { ok: true, forget: entries.map(({ callId }) => callId), resume: [] }
          : refused('RATE_LIMITED', 'Too many.');
      await fixture.clientWith(three).connect();
      const states = fixture.server.resumes.map((entries) => entries.map(({ state }) => state));
      expect(states).toEqual([
        [expect.stringMatching('succeeded|failed')],
        [expect.stringMatching('succeeded|failed')],
      ]);
    });

    it('reconnects after the connection was lost', async () => {
      await fixture.clientWith(three).connect();
      fixture.server.disconnect();
      await until(() => fixture.server.resumes.length === 2);
    });

    it('reconnects when its resume is refused', async () => {
      fixture.server.answerResume = () =>
        fixture.server.resumes.length > 1
          ? { ok: true, forget: [], resume: [] }
          : refused('INTERNAL_ERROR', 'No disk.');
      await fixture.clientWith(three).connect();
      expect(fixture.states[0]).toMatchObject({
        status: 'reconnecting',
        reason: expect.stringContaining('No disk') as string,
      });
    });

    it.each(['TOO_LARGE', 'VALIDATION_ERROR'] as const)(
      'ends when its resume, repeated without results, is still refused with %s',
      async (code) => {
        fixture.server.answerResume = () => refused(code, 'No.');
        await expect(fixture.clientWith(three).connect()).rejects.toMatchObject({ code });
        expect(fixture.server.resumes).toHaveLength(2);
      },
    );

    it('does not reconnect after another connection replaced it', async () => {
      await fixture.clientWith(three).connect();
      fixture.server.socket.emit('client:replaced', { message: 'Replaced.' }, () => undefined);
      fixture.server.disconnect();
      expect(await fixture.client!.ended).toMatchObject({ reason: 'replaced' });
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(fixture.server.handshakes).toHaveLength(1);
      expect(fixture.states.map(({ status }) => status)).toEqual(['connected', 'ended']);
    });

    it('leaves a stopping server and connects to another', async () => {
      await fixture.clientWith(three).connect();
      expect(
        await fixture.server.socket.timeout(1000).emitWithAck('server:draining', { reason: 'Stop.' }),
      ).toEqual({
        ok: true,
      });
      await until(() => fixture.server.resumes.length === 2);
      expect(fixture.states).toContainEqual(expect.objectContaining({ reason: 'The server is stopping.' }));
    });

    it('sends a new token again if the server could not take it at once', async () => {
      const token = async (refused?: string) => (refused ? `${refused}+` : 'token-1');
      await fixture.clientWith(three, { token }).connect();
      fixture.server.answerRefresh = () => refused('UNAVAILABLE', 'Not now.');
      await fixture.server.socket.timeout(1000).emitWithAck('auth:expiring', { expiresAt: '' });
      await until(() => fixture.server.tokens.length === 1);
      fixture.server.answerRefresh = () => ({ ok: true, expiresAt: '' });
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      await until(() => fixture.server.tokens.length === 2);
    }, 15_000);

    it('does not send a token that the server already has', async () => {
      await fixture.clientWith(three).connect();
      const expiresAt = new Date().toISOString();
      expect(await fixture.server.socket.timeout(1000).emitWithAck('auth:expiring', { expiresAt })).toEqual({
        ok: true,
      });
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(fixture.server.tokens).toEqual([]);
    });

    it('sends a new token before the old one expires', async () => {
      const token = async (refused?: string) => (refused ? `${refused}+` : 'token-1');
      await fixture.clientWith(three, { token }).connect();
      await fixture.server.socket.timeout(1000).emitWithAck('auth:expiring', { expiresAt: '' });
      await until(() => fixture.server.tokens.length === 1);
      await fixture.server.socket.timeout(1000).emitWithAck('auth:expiring', { expiresAt: '' });
      await until(() => fixture.server.tokens.length === 2);
      expect(fixture.server.tokens).toEqual(['token-1+', 'token-1++']);
    });
  });

  describe('closing', () => {
    it('ends a client that is still settling interrupted calls', async () => {
      await fixture.journal.receive(callOf('1'));
      await fixture.journal.start('1', null);
      const { opened, open } = gate();
      const settle: SettleTool = () => opened;
      const tools = { word_count: { run: three, settle, recover: three } };
      const connecting = fixture.clientWith(three, { tools }).connect();
      const closing = fixture.client!.close();
      open();
      await expect(connecting).rejects.toThrow('The client was closed.');
      await closing;
      expect(await fixture.client!.ended).toMatchObject({ reason: 'closed' });
      expect(fixture.server.resumes).toEqual([]);
    });

    it('waits for started calls, accepts none, and sends their results', async () => {
      const { opened, open } = gate();
      const aborted: boolean[] = [];
      await fixture.run(async (call, context) => {
        await context.start();
        await opened;
        aborted.push(context.signal.aborted);
        return three(call, context);
      });
      await until(() => fixture.journal.get('1')?.state === 'running');
      const closing = fixture.client!.close();
      expect(await fixture.server.deliver(callOf('2'))).toMatchObject({ error: { code: 'UNAVAILABLE' } });
      expect(fixture.journal.get('2')).toBeNull();
      open();
      await closing;
      expect([aborted, fixture.server.results.length]).toEqual([[false], 1]);
      expect(fixture.states.map(({ status }) => status)).toEqual(['connected', 'ended']);
      expect(await fixture.client!.ended).toMatchObject({ reason: 'closed' });
    });
  });
});
