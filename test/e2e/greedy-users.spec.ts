import { Receiving } from '../../src/bodies/receiving.js';
import { RawConnection } from '../support/raw-connection.js';
import { startTestServer, type TestServer, type TestUser } from '../support/server.js';
import { waitFor } from '../support/wait-for.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const GREEDY = 10;
/** A sixteenth of what the server has by default, with requests a sixteenth as large. */
const BUDGET = 16 * MIB;
const ORDINARY = 400 * KIB;

/** Ten accounts that hold all that they can get, and somebody else. */
describe('while ten users use their whole quotas', () => {
  let server: TestServer;
  let greedy: TestUser[];
  let modest: TestUser;
  const connections: RawConnection[] = [];

  beforeEach(async () => {
    server = await startTestServer({
      config: { maxReceivingBytes: BUDGET, maxBodyBytes: 2 * MIB },
    });
    const users = await Promise.all(Array.from({ length: GREEDY + 1 }, () => server.register()));
    modest = users[0]!;
    greedy = users.slice(1);
  });
  afterEach(async () => {
    for (const connection of connections.splice(0)) connection.end();
    await server.close();
  });

  /** So many connections of a user, each with this request. */
  async function ask(count: number, request: string): Promise<RawConnection[]> {
    const opened = await RawConnection.openMany(server, count);
    connections.push(...opened);
    return opened.map((one) => one.send(request));
  }
  const head = (method: string, path: string, { token }: TestUser, more = ''): string =>
    `${method} /api/v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${more}\r\n`;

  it('accepts a body of ordinary size from another user [REQ-10]', async () => {
    const receiving = server.app.get(Receiving);
    const size = 150 * KIB;
    const more = `Content-Type: application/json\r\nContent-Length: ${size}\r\n`;
    for (const user of greedy) {
      const before = receiving.held;
      const asked = await ask(Math.ceil((2 * MIB) / size), head('POST', '/workspaces', user, more) + ' ');
      const refused = (): number => asked.filter(({ received }) => received.includes(' 429 ')).length;
      await waitFor(() => (receiving.held - before) / size + refused() === asked.length, 'room or refusals');
      expect(refused()).toBeGreaterThan(0);
    }
    const body = (bytes: number): string => '{"name":"w"}'.padEnd(bytes);
    expect((await greedy[9]!.post('/workspaces', body(size))).status).toBe(429);
    expect((await greedy[9]!.post('/workspaces', body(1))).status).toBe(201);
    expect((await modest.post('/workspaces', body(ORDINARY))).status).toBe(201);
  });
});
