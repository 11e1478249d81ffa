import { spawnSync } from 'node:child_process';

/**
 * A process with nothing else to do. Its connection is closed in a way that Node 20 does not report: fetch neither
 * answers nor fails. The wait is cut to 200 ms.
 */
const CHILD = `
  const { HttpTransport } = await import('${new URL('../../dist/http/http-transport.js', import.meta.url).href}');
  globalThis.fetch = (_url, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const transport = new HttpTransport('http://server', { read: async () => null }, { retryDelaysMs: [] });
  const lost = { method: 'POST', path: '/x', anonymous: true, waitMs: -29_800 };
  transport.request(lost).catch((error) => console.log(error.code, error.message));
`;

describe('a request that is never answered', () => {
  it('keeps its process alive until it fails with a message', () => {
    const how = { encoding: 'utf8', timeout: 20_000 } as const;
    const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', CHILD], how);
    expect([stdout, stderr, status]).toEqual([
      'NETWORK No answer from http://server: it took too long.\n',
      '',
      0,
    ]);
  });
});
