import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandFixture } from '../../support/command-fixture.js';
import { HttpProxy } from '../../support/http-proxy.js';
import { createCall } from '../../support/relay-fixture.js';
import { PASSWORD, startTestServer, type TestServer } from '../../support/server.js';

describe('A server below a path of a proxy', () => {
  let server: TestServer;
  let proxy: HttpProxy;
  let setup: CommandFixture;
  beforeAll(async () => {
    server = await startTestServer();
    proxy = await HttpProxy.to(server.url, '/tools/patchbay');
    setup = await CommandFixture.on(server);
  });
  afterAll(async () => {
    await setup.close();
    await proxy.close();
    await server.close();
  });

  it('works for every command, over HTTP and sockets, with or without a trailing slash', async () => {
    const url = `${proxy.url}/tools/patchbay`;
    const { email } = setup.fixture.user;
    const run = (...args: string[]) =>
      setup.bare([args[0]!, '--home', setup.home, ...args.slice(1)], {
        env: { PATCHBAY_PASSWORD: PASSWORD },
      });
    const login = await run('login', '--url', `${url}/`, '--email', email);
    expect([login.code, login.out]).toEqual([0, expect.stringContaining(`Logged in to ${url} as ${email}`)]);
    const folder = await setup.folder('proj', { 'a.txt': 'a\n' });
    // The login says which server it is.
    expect((await run('push', folder)).out).toContain('sent 1 file');
    const client = await setup.connect(folder, true, url);
    const file = join(setup.directory, 'turn.json');
    await writeFile(file, JSON.stringify([createCall('c1', 'proj/b.txt')]));
    expect((await run('turn', file)).code).toBe(0);
    expect(client.executed).toHaveLength(1);
    const status = await run('status', folder);
    expect(status.out).toContain(`Server     ${url}, as ${email}`);
    expect(status.out).toContain('"patchbay connect proj", with proj: connected');
    expect((await run('audit')).out).toContain('Tool.CreateFile.ResultReceived');
    expect((await run('logout')).code).toBe(0);
    expect(proxy.strays).toEqual([]);
  });
});
