import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLIENT, TestProcess } from '../../support/processes.js';
import { makeCertificate } from '../../support/reverse-proxy.js';

describe('patchbay and a server with a certificate of a private authority:', () => {
  let directory: string;
  let server: Server;
  let certificate: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'patchbay-authority-'));
    const made = await makeCertificate(directory);
    ({ certificate } = made);
    const [cert, key] = [await readFile(certificate), await readFile(made.key)];
    server = createServer({ cert, key }, (_request, response) => {
      response.writeHead(401).end('{"error":"No valid token found","code":"INVALID_TOKEN"}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    server.close();
    await rm(directory, { recursive: true });
  });

  const run = async (env: Record<string, string>, ...args: string[]) => {
    const { port } = server.address() as AddressInfo;
    const common = {
      PATCHBAY_URL: `https://localhost:${port}`,
      PATCHBAY_TOKEN: 'x',
      PATCHBAY_HOME: directory,
    };
    const command = new TestProcess('patchbay', CLIENT, args, { ...common, ...env });
    const { code } = await command.exited;
    return { code, err: command.stderr };
  };

  it.each([['workspaces'], ['audit'], ['status']])(
    '%s names the variable that makes it trusted',
    async (name) => {
      const { code, err } = await run({}, name);
      expect(err).toContain('NODE_EXTRA_CA_CERTS');
      expect(err).not.toContain('--url right');
      expect(code).toBe(4);
    },
  );

  it('connects when the variable is set', async () => {
    const { code, err } = await run({ NODE_EXTRA_CA_CERTS: certificate }, 'workspaces');
    expect([code, err.includes('NODE_EXTRA_CA_CERTS')]).toEqual([3, false]);
  });
});
