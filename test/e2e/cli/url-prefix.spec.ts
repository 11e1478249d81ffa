import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandDesk } from '../../support/command-desk.js';
import { HttpProxy } from '../../support/http-proxy.js';
import { createCall } from '../../support/relay-scene.js';
import { PASSWORD, startTestServer, type TestServer } from '../../support/server.js';

describe('A server below a path of a proxy', () => {
  let server: TestServer;
  let proxy: HttpProxy;
  let desk: CommandDesk;
  beforeAll(async () => {
    server = await startTestServer();
    proxy = await HttpProxy.to(server.url, '/tools/patchbay');
    desk = await CommandDesk.on(server);
  });
  afterAll(async () => {
    await desk.close();
    await proxy.close();
    await server.close();
  });

  it('is one for every command, by HTTP and by socket, with or without a slash at the end', async () => {
    const url = `${proxy.url}/tools/patchbay`;
    const { email } = desk.scene.user;
    const run = (...args: string[]) =>
      desk.bare([args[0]!, '--home', desk.home, ...args.slice(1)], { env: { PATCHBAY_PASSWORD: PASSWORD } });
    const login = await run('login', '--url', `${url}/`, '--email', email);
    expect([login.code, login.out]).toEqual([0, expect.stringContaining(`Logged in to ${url} as ${email}`)]);
    const folder = await desk.folder('proj', { 'a.txt': 'a\n' });
    // The login says which server it is.
    expect((await run('push', folder)).out).toContain('sent 1 file');
    const client = await desk.connect(folder, true, url);
    const file = join(desk.directory, 'turn.json');
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
