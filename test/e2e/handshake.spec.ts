import { JwtService } from '@nestjs/jwt';
import type { Credentials, RelayError } from '@patchbay/protocol';
import { randomUUID } from 'node:crypto';
import { io } from 'socket.io-client';
import { Bus } from '../../src/events/bus.js';
import { newId } from '../../src/common/ids.js';
import { storesOf } from '../contract/backends.js';
import { FakeClient, type FakeClientOptions } from '../support/fake-client.js';
import { suiteFixture, testFixture } from '../support/fixtures.js';
import { hold } from '../support/hold.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { PASSWORD, startTestServer, type TestUser } from '../support/server.js';
import { waitFor } from '../support/wait-for.js';

const jwtSecret = 'a secret of more than thirty-two characters';

describe('a handshake', () => {
  const server = suiteFixture(() =>
    startTestServer({ config: { jwtSecret, origins: ['https://editor.example.com'] } }),
  );
  const user = suiteFixture(() => server.register());
  const fixture = testFixture(() => RelayFixture.on(server, user));

  /** `err.data` of a handshake that is refused. */
  async function refusal(change: Partial<FakeClientOptions>): Promise<RelayError | undefined> {
    const error = await FakeClient.connect(fixture.clientOptions(change)).then(
      () => new Error('was accepted'),
      (reason: Error) => reason,
    );
    return (error as Error & { data?: RelayError }).data;
  }
  const tokenFor = (who: TestUser, seconds: number): string => {
    const { login } = new JwtService({}).decode<{ login: string }>(who.token);
    const claims = { sub: who.id, email: who.email, login };
    return new JwtService({ secret: jwtSecret }).sign(claims, { expiresIn: seconds });
  };

  it('rejects a connection without a token [RELAY-1]', async () => {
    for (const token of ['', null, undefined, 7, {}]) {
      expect(await refusal({ auth: { token } })).toEqual({
        code: 'INVALID_TOKEN',
        message: expect.any(String) as string,
      });
    }
  });

  it('rejects an invalid token, an expired one and one with another signature', async () => {
    const forged = new JwtService({ secret: 'x'.repeat(32) }).sign(
      { sub: user.id, email: user.email },
      { expiresIn: 60 },
    );
    for (const token of ['garbage', tokenFor(user, -1), forged]) {
      expect(await refusal({ token })).toMatchObject({ code: 'INVALID_TOKEN' });
    }
  });

  it('rejects a workspace of others in the same way as one that does not exist', async () => {
    const stranger = await server.register();
    const foreign = await refusal({ token: stranger.token });
    expect(foreign).toMatchObject({ code: 'FORBIDDEN' });
    expect(await refusal({ workspaceId: randomUUID() })).toEqual(foreign);
  });

  it('rejects a connection without a token before anything else is checked', async () => {
    expect(await refusal({ token: 'x', workspaceId: 'y', auth: { protocol: 9 } })).toMatchObject({
      code: 'INVALID_TOKEN',
    });
  });

  it.each([
    ['a workspace that is no UUID', { workspaceId: 'mine' }, 'workspaceId'],
    ['another protocol', { protocol: 2 }, 'this server speaks no other version'],
    ['an unknown property', { colour: 'red' }, 'colour is not a known property'],
    ['no clientId', { clientId: undefined }, 'clientId'],
    ['a clientId that is too long', { clientId: 'x'.repeat(257) }, 'clientId'],
    ['no name', { name: '' }, 'name'],
    ['tools that are no list', { tools: 'all' }, 'tools'],
    ['a tool that has no name', { tools: [''] }, 'tools'],
    ['a window over the limit', { maxInFlight: 9 }, 'maxInFlight'],
    ['a window of nothing', { maxInFlight: 0 }, 'maxInFlight'],
    ['another protocol as text', { protocol: '2' }, 'this server speaks no other version'],
    ['a protocol that is no number', { protocol: '1.0' }, 'protocol'],
    ['a window as text over the limit', { maxInFlight: '9' }, 'maxInFlight'],
    [
      'a list as broken text',
      { tools: '["a",\n"b"' },
      'tools must be an array; the text is not valid JSON: line 2, column 4: it ends too early',
    ],
    [
      'a list of folders as broken text',
      { roots: "[{'name': 1}]" },
      `roots must be an array; the text is not valid JSON: line 1, column 3, at "'name': 1}]"`,
    ],
    ['an object as text', { tools: '{"0":"a"}' }, 'tools must be an array'],
    ['a list as text that is nested too deep', { roots: '['.repeat(300) }, 'roots must be an array'],
    ['a root as text that is none', { roots: '[{"name":"a/b"}]' }, 'roots[0]'],
  ])('rejects %s [RELAY-1]', async (_, auth, message) => {
    expect(await refusal({ auth })).toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining(message) as string,
    });
  });

  it('accepts numbers and lists as text, for clients that can only send strings [RELAY-30]', async () => {
    const root = { name: 'Proj', rootId: randomUUID(), docPath: 'proj' };
    const client = await fixture.client({
      auth: {
        ...{ protocol: '1', maxInFlight: '2', customTools: '[]' },
        ...{ tools: '["workspace_create_file"]', roots: JSON.stringify([root]) },
      },
    });
    await fixture.post(['a', 'b', 'c'].map((id) => createCall(id, `Proj/${id}.txt`)));
    await client.delivery(2);
    expect(client.calls.map(({ toolCallId }) => toolCallId)).toEqual(['a', 'b']);
    await client.report(client.calls[0]!);
    expect((await client.delivery(3)).toolCallId).toBe('c');
  });

  it('treats null like absent, and the workspace id in any case', async () => {
    const client = await fixture.client({
      workspaceId: fixture.workspaceId.toUpperCase(),
      auth: { maxInFlight: null },
    });
    await fixture.post([createCall('a')]);
    await client.report(await client.delivery());
  });

  it('rejects a page of another site before any other answer [RELAY-1]', async () => {
    for (const origin of ['https://evil.example.com', 'null', `${server.url}.evil.example.com`]) {
      expect(await refusal({ headers: { origin } })).toBeUndefined();
      await expect(FakeClient.connect(fixture.clientOptions({ headers: { origin } }))).rejects.toThrow();
    }
  });

  it('accepts the own page and an allowed origin', async () => {
    for (const origin of [server.url, 'https://editor.example.com']) {
      expect((await fixture.client({ headers: { origin }, clientId: origin })).connected).toBe(true);
    }
  });

  it('rejects a connection at another path', async () => {
    const socket = io(server.url, { transports: ['websocket'], reconnection: false, forceNew: true });
    await expect(
      new Promise((resolve, reject) =>
        socket.once('connect', () => resolve(1)).once('connect_error', reject),
      ),
    ).rejects.toThrow('/relay');
    socket.disconnect();
  });

  it('accepts websockets only', async () => {
    const response = await fetch(`${server.url}/socket.io/?EIO=4&transport=polling`);
    expect(response.status).toBe(400);
  });

  it('replaces the connection of the same clientId, which is told [RELAY-2]', async () => {
    const first = await fixture.client();
    await fixture.post([createCall('a')]);
    await first.delivery();
    await fixture.untilCall((await lastTurn())!, 'a', 'acknowledged');
    const second = await fixture.client();
    await first.closed();
    expect(first.notices).toEqual(['client:replaced']);
    expect(first.closedBecause).toBe('io server disconnect');
    const again = await second.delivery();
    expect(again.attempt).toBe(2);
    expect(await second.report(again)).toEqual({ ok: true });
    expect(second.connected).toBe(true);
  });
  const lastTurn = async (): Promise<string | null> => {
    const { body } = await user.get<{ events: { turnId: string }[] }>(
      `/workspaces/${fixture.workspaceId}/audit`,
    );
    return body.events.at(-1)?.turnId ?? null;
  };

  it('is not closed by a late message about an older connection [RELAY-2]', async () => {
    const client = await fixture.client();
    const key = { workspaceId: fixture.workspaceId, userId: user.id, clientId: 'editor-1' };
    const older = { ...key, epoch: 0, connectionId: newId() };
    server.app.get(Bus, { strict: false }).publish({ type: 'client_connected', ...older });
    expect(await client.send('hello')).toMatchObject({ error: { code: 'NOT_FOUND' } });
  });

  it('leaves the connection of another user with the same clientId [RELAY-2]', async () => {
    const other = await server.register();
    await user.addMember(fixture.workspaceId, other);
    const [mine, theirs] = [await fixture.client(), await fixture.client({ token: other.token })];
    await mine.send('tool:status', {});
    expect([mine.connected, theirs.connected]).toEqual([true, true]);
    await fixture.post([createCall('a')]);
    await mine.report(await mine.delivery());
    expect(theirs.calls).toEqual([]);
  });

  it('ends with the membership [RELAY-11]', async () => {
    const member = await server.register();
    await user.addMember(fixture.workspaceId, member);
    const client = await fixture.client({ token: member.token });
    const own = await fixture.client();
    await user.request('DELETE', `/workspaces/${fixture.workspaceId}/members/${member.id}`);
    await client.closed(1_000);
    expect(client.closedBecause).toBe('io server disconnect');
    expect(await refusal({ token: member.token })).toMatchObject({ code: 'FORBIDDEN' });
    expect(own.connected).toBe(true);
  });

  it('is rejected when the membership ends during it [RELAY-11]', async () => {
    const member = await server.register();
    await user.addMember(fixture.workspaceId, member);
    const slow = hold(storesOf(server.app).clients, 'epochOf');
    const connecting = FakeClient.connect(fixture.clientOptions({ token: member.token }));
    await slow.reached;
    await user.request('DELETE', `/workspaces/${fixture.workspaceId}/members/${member.id}`);
    slow.release();
    const client = await connecting;
    fixture.clients.push(client);
    expect(await client.resume([])).toMatchObject({ ok: false, error: { code: 'FORBIDDEN' } });
  });

  it('is rejected when the login ends during it [REQ-8] [RELAY-11]', async () => {
    const member = await server.register();
    await user.addMember(fixture.workspaceId, member);
    const slow = hold(storesOf(server.app).clients, 'epochOf');
    const connecting = FakeClient.connect(fixture.clientOptions({ token: member.token }));
    await slow.reached;
    const { refreshToken } = member.credentials;
    await server.request('POST', '/auth/logout', { refreshToken });
    slow.release();
    const client = await connecting;
    fixture.clients.push(client);
    expect(await client.send('auth:refresh', member.token)).toMatchObject({
      error: { code: 'INVALID_TOKEN' },
    });
    expect(await client.resume([])).toMatchObject({ ok: false, error: { code: 'INVALID_TOKEN' } });
    await client.closed(5_000);
  });

  it('ends with the login of its newest token [REQ-8] [RELAY-11]', async () => {
    const member = await server.register();
    await user.addMember(fixture.workspaceId, member);
    const login = { email: member.email, password: PASSWORD };
    const other = (await server.request<Credentials>('POST', '/auth/login', login)).body;
    const logout = ({ refreshToken }: Credentials) =>
      server.request('POST', '/auth/logout', { refreshToken });
    const [first, renewed, second] = [
      await fixture.client({ token: member.token, clientId: 'first' }),
      await fixture.client({ token: member.token, clientId: 'renewed' }),
      await fixture.client({ token: other.accessToken, clientId: 'second' }),
    ];
    expect(await renewed.send('auth:refresh', other.accessToken)).toMatchObject({ ok: true });
    await logout(member.credentials);
    await first.closed();
    expect(first.closedBecause).toBe('io server disconnect');
    for (const client of [renewed, second])
      expect(await client.send('hello')).toMatchObject({ error: { code: 'NOT_FOUND' } });
    await logout(other);
    await Promise.all([renewed.closed(), second.closed()]);
  });

  it('ends when its token expires, after a warning [RELAY-11]', async () => {
    const client = await fixture.client({ token: tokenFor(user, 2) });
    await waitFor(() => client.notices.includes('auth:expiring'), 'the warning');
    await client.closed(5_000);
  });

  it('sends a warning one minute before the token expires [RELAY-11]', async () => {
    const client = await fixture.client({ token: tokenFor(user, 61) });
    expect(client.notices).toEqual([]);
    await waitFor(() => client.notices.includes('auth:expiring'), 'the warning');
    expect(client.connected).toBe(true);
  });

  it('sends one warning for each token, however often the token is sent [RELAY-11]', async () => {
    const token = tokenFor(user, 3);
    const client = await fixture.client({ token });
    await waitFor(() => client.notices.includes('auth:expiring'), 'the warning');
    for (let times = 0; times < 5; times += 1) await client.send('auth:refresh', token);
    await new Promise((resolve) => setTimeout(resolve, 900));
    expect(client.notices).toEqual(['auth:expiring']);
    await client.closed(5_000);
  });

  it('accepts a new token of the same user and rejects one of another user [RELAY-11]', async () => {
    const other = await server.register();
    const client = await fixture.client({ token: tokenFor(user, 2) });
    expect(await client.send('auth:refresh', other.token)).toMatchObject({
      ok: false,
      error: { code: 'FORBIDDEN' },
    });
    for (const token of ['garbage', tokenFor(user, -1)]) {
      expect(await client.send('auth:refresh', token)).toMatchObject({
        ok: false,
        error: { code: 'INVALID_TOKEN' },
      });
    }
    for (const token of [null, {}, [user.token]]) {
      expect(await client.send('auth:refresh', token)).toMatchObject({
        ok: false,
        error: { code: 'VALIDATION_ERROR' },
      });
    }
    // Also before its journal was shown: that may take long.
    const early = await FakeClient.connect(fixture.clientOptions({ clientId: 'early' }));
    fixture.clients.push(early);
    expect(await early.send('auth:refresh', tokenFor(user, 60))).toMatchObject({ ok: true });
    const renewed = await client.send('auth:refresh', tokenFor(user, 3_600));
    expect(renewed).toEqual({ ok: true, expiresAt: expect.stringMatching(/Z$/) as string });
    await new Promise((resolve) => setTimeout(resolve, 2_200));
    expect(client.connected).toBe(true);
  });
});
