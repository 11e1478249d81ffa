import { suiteFixture } from '../support/fixtures.js';
import { RawConnection } from '../support/raw-connection.js';
import { startTestServer } from '../support/server.js';

const LARGE = 15_000;

describe('a request with headers of the maximum size', () => {
  const server = suiteFixture(() => startTestServer());
  const user = suiteFixture(() => server.register());

  /** Statuses of a hundred such requests, on one connection. */
  async function ask(headers: Record<string, string>, path = '/api/v1/workspaces'): Promise<Set<number>> {
    const connection = await RawConnection.open(server);
    const statuses = new Set<number>();
    for (let sent = 1; sent <= 100; sent += 1) statuses.add(await connection.get(path, headers).status(sent));
    connection.end();
    return statuses;
  }

  it.each([
    ['a token of one part', () => ({ Authorization: `Bearer ${'x'.repeat(LARGE)}` })],
    ['a token of ten thousand parts', () => ({ Authorization: `Bearer ${'.'.repeat(LARGE)}` })],
    [
      'a good token with more behind it',
      () => ({ Authorization: `Bearer ${user.token}${'A'.repeat(LARGE - 500)}` }),
    ],
    ['a scheme and ten thousand spaces', () => ({ Authorization: `Bearer${' '.repeat(LARGE)}x` })],
    ['ten thousand spaces and a line of tabs', () => ({ Authorization: `Bearer${' \t'.repeat(LARGE / 2)}` })],
    ['five thousand cookies', () => ({ Cookie: 'a=;'.repeat(LARGE / 3) })],
    ['a cookie of percent signs', () => ({ Cookie: `access_token=${'%'.repeat(LARGE)}` })],
    ['no token, and a chain of addresses', () => ({ 'X-Forwarded-For': '1.1.1.1,'.repeat(LARGE / 8) })],
  ])('is answered with 401 with %s', async (_, headers) => {
    expect(await ask(headers())).toEqual(new Set([401]));
  });

  it('is answered with 400 and twenty faults with five thousand parameters', async () => {
    const query = Array.from({ length: 2_500 }, (_, at) => `p${at}`).join('&');
    const headers = { Authorization: `Bearer ${user.token}` };
    expect(await ask(headers, `/api/v1/workspaces?${query}`)).toEqual(new Set([400]));
  });

  it('is accepted with five hundred headers', async () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`X-${at}`, 'y']));
    expect(await ask({ ...many, Authorization: `Bearer ${user.token}` })).toEqual(new Set([200]));
  });
});
