import type { Settings } from '../../src/config/config.js';
import { ConnectedClients } from '../../src/clients/connected-clients.js';
import { ConnectionBounds } from '../../src/relay/connection-bounds.js';
import { storesOf } from '../contract/backends.js';
import { FakeClient } from '../support/fake-client.js';
import { hold } from '../support/hold.js';
import { RawWebSocket } from '../support/raw-websocket.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { startTestServer, type TestServer, type TestUser } from '../support/server.js';
import { waitFor } from '../support/wait-for.js';

const KIB = 1024;
const MIB = 1024 * KIB;

describe('a relay connection', () => {
  let server: TestServer;
  let user: TestUser;
  let fixture: RelayFixture;
  const sockets: RawWebSocket[] = [];
  /** By their settings. */
  const servers = new Map<string, TestServer>();
  async function start(config: Partial<Settings> = {}): Promise<void> {
    const key = JSON.stringify(config);
    server = servers.get(key) ?? (await startTestServer({ config: { rateLimit: 1_000_000, ...config } }));
    servers.set(key, server);
    user = await server.register();
    fixture = await RelayFixture.on(server, user);
  }
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.end();
    await fixture.close();
  });
  afterAll(async () => {
    for (const each of servers.values()) await each.close();
  });
  const stranger = async (address?: string): Promise<RawWebSocket> => {
    const socket = await RawWebSocket.open(server, address);
    sockets.push(socket);
    return socket;
  };
  const handshake = (clientId: string, change: object = {}): object => ({
    ...{ token: user.token, workspaceId: fixture.workspaceId, clientId, name: 'raw', version: '1' },
    ...{ protocol: 1, tools: [], ...change },
  });
  const member = async (clientId: string, change: object = {}): Promise<RawWebSocket> => {
    const socket = await RawWebSocket.member(server, handshake(clientId, change));
    sockets.push(socket);
    return socket;
  };
  const untilClosed = (socket: RawWebSocket): Promise<void> => socket.connection.untilClosed();
  /** A client that behaves: a call comes and its result is taken. */
  async function othersGoOn(): Promise<void> {
    const client = await fixture.client({ clientId: 'well-behaved' });
    await fixture.post([createCall('after')]);
    expect(await client.report(await client.delivery())).toEqual({ ok: true });
  }

  describe('without a token', () => {
    it('may send 16 KiB before its handshake is accepted, and is told the limit [RELAY-40]', async () => {
      await start();
      const socket = await stranger();
      socket.text(`40/relay,${JSON.stringify({ token: 'x'.repeat(20 * KIB) })}`);
      await socket.until('"code":"TOO_LARGE"');
      await untilClosed(socket);
      await othersGoOn();
    });

    it('is told what it announces too much of, by the real client [RELAY-40]', async () => {
      await start();
      const tools = Array.from({ length: 256 }, (_, at) => `tool_${at}_${'x'.repeat(80)}`);
      const refused = FakeClient.connect(fixture.clientOptions({ auth: { tools } }));
      await expect(refused).rejects.toMatchObject({ data: { code: 'TOO_LARGE' } });
    });

    it.each([
      [
        'one frame that announces more',
        (one: RawWebSocket) => one.frame(1, Buffer.alloc(17 * KIB, 0x20), { size: 30 * MIB }),
      ],
      [
        'fragments',
        (one: RawWebSocket) => {
          for (let sent = 0; sent < 5_000; sent += 1)
            one.frame(sent === 0 ? 1 : 0, Buffer.from('4'), { fin: false });
        },
      ],
      [
        'pings',
        (one: RawWebSocket) => {
          for (let sent = 0; sent < 500; sent += 1) one.frame(9, Buffer.alloc(100));
        },
      ],
      [
        'handshakes for places that there are not',
        (one: RawWebSocket) => {
          for (let sent = 0; sent < 100; sent += 1) one.text(`40/nothing${sent},`);
        },
      ],
      [
        'handshakes for the place where nobody belongs',
        (one: RawWebSocket) => {
          for (let sent = 0; sent < 100; sent += 1) one.text('40');
        },
      ],
      ['bytes of no event', (one: RawWebSocket) => one.frame(2, Buffer.alloc(10))],
    ])('is closed when it sends %s [RELAY-40]', async (_, send) => {
      await start();
      const socket = await stranger();
      await socket.until('"pingInterval"');
      send(socket);
      await untilClosed(socket);
      await othersGoOn();
    });

    it('counts towards the limit of its address [RELAY-40]', async () => {
      await start({ maxAddressUnauthenticated: 5 });
      for (let opened = 0; opened < 5; opened += 1) await stranger('127.0.0.9');
      const refused = await stranger('127.0.0.9');
      expect(refused.connection.received).toContain('HTTP/1.1 429');
      expect(refused.connection.received).toContain('Too many handshakes');
      await othersGoOn();
      sockets[0]!.end();
      await waitFor(async () => {
        const next = await stranger('127.0.0.9');
        return next.connection.received.includes('101 Switching');
      }, 'room');
    });

    it('gets no second transport for one counted connection', async () => {
      await start();
      const first = await stranger();
      await first.until('"sid"');
      const sid = /"sid":"([^"]+)"/.exec(first.connection.received)![1]!;
      const path = `/socket.io/?EIO=4&transport=websocket&sid=${sid}`;
      const second = await RawWebSocket.open(server, undefined, path);
      sockets.push(second);
      expect(second.connection.received).toContain('HTTP/1.1 400');
    });
  });

  describe('of a member', () => {
    it.each([
      [
        'frames that never end',
        async () => {
          const many = await Promise.all(Array.from({ length: 8 }, (_, at) => member(`m${at}`)));
          for (const one of many) one.frame(1, Buffer.alloc(700 * KIB, 0x20), { size: 1024 * KIB });
          await waitFor(() => many.some(({ closed }) => closed), 'the end of one');
          expect(many.filter(({ closed }) => closed).length).toBeLessThan(8);
        },
      ],
      [
        'attachments of events that never come to their end',
        async () => {
          const many = await Promise.all(Array.from({ length: 8 }, (_, at) => member(`m${at}`)));
          for (const one of many) {
            one
              .text('453-/relay,["files:put",{"_placeholder":true,"num":0}]')
              .frame(2, Buffer.alloc(500 * KIB));
            one.frame(2, Buffer.alloc(100 * KIB));
          }
          await waitFor(() => many.some(({ closed }) => closed), 'the end of one');
        },
      ],
      [
        'pings',
        async () => {
          const one = await member('m');
          for (let sent = 0; sent < 10_000; sent += 1) one.frame(9, Buffer.alloc(1));
          await untilClosed(one);
        },
      ],
      [
        'packets that are no events',
        async () => {
          const one = await member('m');
          for (let sent = 0; sent < 10_000; sent += 1) one.text('40/nothing,');
          await untilClosed(one);
        },
      ],
    ])('is closed for %s, however many connections share it [RELAY-41]', async (_, attack) => {
      await start({ maxBodyBytes: MIB, maxRelayBytes: MIB });
      await attack();
      await othersGoOn();
    });

    it('is told that an event has too much JSON, and stays open [RELAY-41]', async () => {
      await start();
      const client = await fixture.client();
      const names = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`n${at}`, 0]));
      const deep = JSON.parse('['.repeat(300) + ']'.repeat(300)) as unknown;
      for (const [payload, fault] of [
        [Array.from({ length: 250_000 }, () => 0), 'more than 250000 values'],
        [names, 'more than 50000 different names'],
        [deep, 'deeper than 250 levels'],
      ] as const) {
        const answer = await client.send('tool:result', payload);
        const message = expect.stringContaining(fault) as string;
        expect(answer).toMatchObject({ ok: false, error: { code: 'TOO_LARGE', message } });
      }
      const within = await client.send(
        'tool:result',
        Array.from({ length: 240_000 }, () => 0),
      );
      expect(within).toMatchObject({ ok: false, error: { code: 'VALIDATION_ERROR' } });
      await othersGoOn();
    });

    it('gets its calls however slowly another client of its user reads [RELAY-43]', async () => {
      await start();
      const slow = await member('slow', { tools: ['workspace_create_file'] });
      await fixture.newSession('slow');
      slow.text('42/relay,0["client:resume",[]]');
      await slow.until('43/relay,0');
      slow.connection.socket.pause();
      const call = { ...createCall('large'), arguments: { path: 'a.txt', content: 'x'.repeat(14 * MIB) } };
      await fixture.post([call]);
      const unread = (): number => server.app.get(ConnectionBounds).held;
      await waitFor(() => unread() > 4 * MIB, 'the slow client to leave it unread');
      await fixture.newSession('well-behaved');
      await othersGoOn();
      expect([slow.closed, unread() > 4 * MIB]).toEqual([false, true]);
      slow.connection.socket.resume();
      await waitFor(() => unread() === 0, 'the slow client to have read it');
      expect(slow.closed).toBe(false);
    });

    it('counts towards the limit of its user [RELAY-42]', async () => {
      await start({ maxUserSockets: 2 });
      const [first] = [await fixture.client({ clientId: 'a' }), await fixture.client({ clientId: 'b' })];
      const third = FakeClient.connect(fixture.clientOptions({ clientId: 'c' }));
      await expect(third).rejects.toMatchObject({ data: { code: 'RATE_LIMITED' } });
      expect((await fixture.client({ clientId: 'b' })).connected).toBe(true);
      first.close();
      await waitFor(
        () =>
          FakeClient.connect(fixture.clientOptions({ clientId: 'c' })).then(
            (c) => (fixture.clients.push(c), true),
            () => false,
          ),
        'room',
      );
    });

    it('is not counted when it ends during its handshake [RELAY-42]', async () => {
      await start({ maxUserSockets: 1 });
      const slow = hold(storesOf(server.app).workspaces, 'roleOf');
      const gone = await stranger();
      await gone.until('"pingInterval"');
      gone.text(`40/relay,${JSON.stringify(handshake('gone'))}`);
      await slow.reached;
      const open = (): Promise<number> =>
        new Promise((resolve) => server.app.getHttpServer().getConnections((_, count) => resolve(count)));
      const before = await open();
      gone.end();
      await waitFor(async () => (await open()) < before, 'the server to see it gone');
      slow.release();
      await othersGoOn();
    });

    it('is closed although it does not confirm its end [RELAY-42]', async () => {
      await start();
      const silent = await member('well-behaved');
      await othersGoOn();
      await untilClosed(silent);
    });

    /** Two of these lists are more than may be in progress at a time with bodies of 1 MiB. */
    function sendList(client: FakeClient): Promise<unknown> {
      const { sessionId } = fixture.session;
      const file = { displayPath: 'x'.repeat(1_000), sha256: '0'.repeat(64), sizeBytes: 0, isDirty: false };
      const activeFiles = Array.from({ length: 800 }, (_, at) => ({ docPath: `p/${at}`, ...file }));
      return client.send('session:active_files', { sessionId, activeFiles });
    }

    it('is not read while too many of its bytes are in progress [RELAY-41]', async () => {
      await start({ maxBodyBytes: MIB, maxRelayBytes: MIB });
      const client = await fixture.client();
      const put = { content: Buffer.alloc(MIB / 2) };
      for (let sent = 0; sent < 8; sent += 1)
        expect(await client.send('files:put', put)).toMatchObject({ error: { code: 'VALIDATION_ERROR' } });
      const slow = hold(storesOf(server.app).sessions, 'byId');
      const first = sendList(client);
      await fixture.newSession();
      const lists = [first, sendList(client)];
      // Both are in hand.
      await slow.reachedBy(2);
      let isAnswered = false;
      const next = client.send('hello').then(() => (isAnswered = true));
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(isAnswered).toBe(false);
      slow.release();
      expect(await Promise.all(lists)).toEqual([{ ok: true }, { ok: true }]);
      await next;
    });

    it('has no bytes in progress any more when its events end after it left [RELAY-41]', async () => {
      await start({ maxBodyBytes: MIB, maxRelayBytes: MIB });
      const clients = server.app.get(ConnectedClients, { strict: false });
      for (const clientId of ['first', 'second']) {
        const slow = hold(storesOf(server.app).sessions, 'byId');
        const leaving = await fixture.client({ clientId });
        sendList(leaving).catch(() => undefined);
        await slow.reached;
        leaving.socket.disconnect();
        await waitFor(() => clients.users().length === 0, 'the client to be gone');
        slow.release();
      }
      await othersGoOn();
    });

    it('counts towards the limit of its workspace [RELAY-42]', async () => {
      await start({ maxWorkspaceSockets: 1 });
      const other = await server.register();
      await user.addMember(fixture.workspaceId, other);
      await fixture.client();
      const second = FakeClient.connect(fixture.clientOptions({ token: other.token, clientId: 'b' }));
      await expect(second).rejects.toMatchObject({ data: { code: 'RATE_LIMITED' } });
    });
  });
});
