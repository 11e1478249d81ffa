import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandFixture } from '../../support/command-fixture.js';
import { suiteFixture, testFixture } from '../../support/fixtures.js';
import { createCall } from '../../support/relay-fixture.js';
import { startTestServer } from '../../support/server.js';
import { put } from '../../support/sync-fixture.js';

describe('patchbay status', () => {
  const server = suiteFixture(() => startTestServer());
  const setup = testFixture(() => CommandFixture.on(server));

  it('reports user, server and workspace, and what to do in a new folder', async () => {
    const { user, workspaceId } = setup.fixture;
    const { code, out } = await setup.run('status', await setup.folder('proj'));
    expect(code).toBe(0);
    expect(out.split('\n')).toEqual([
      `Server     ${server.url}, as ${user.email}`,
      `Workspace  "Workspace" (${workspaceId}), yours`,
      'Clients    none was ever connected: run "patchbay connect" in a project folder',
      'Open       nothing',
      `Folder     ${join(setup.directory, 'proj')} was never synced with this workspace:`,
      '           "patchbay push" sends its files, "patchbay connect" connects it',
      '',
    ]);
  });

  it('reports open calls with their client and deadline, and connected clients', async () => {
    const folder = await setup.folder('proj', { 'a.txt': 'a\n' });
    await setup.run('push', folder);
    await setup.fixture.post([createCall('c1', 'proj/b.txt')], { turnId: 't1' });
    const before = (await setup.run('status', folder)).out;
    expect(before).toMatch(
      /Open {7}turn t1, posted \d+ s ago\n +c1 workspace_create_file proj\/b\.txt waits for a client \("patchbay connect"\), until \d\d:\d\d:\d\d \(5 min left\)\n/,
    );
    await setup.connect(folder, false);
    await setup.fixture.untilCall('t1', 'c1', 'awaiting_approval');
    const { out } = await setup.run('status', folder);
    expect(out).toMatch(/Clients {4}"patchbay connect proj", with proj: connected for \d+ s\n/);
    expect(out).toMatch(
      /waits for a person's decision at "patchbay connect proj", until \S+ \(15 min left\)\n/,
    );
    expect(out).toContain(`Folder     ${folder} is "proj" in the Cloud, without differences\n`);
  });

  it('reports the differences of a folder and the Cloud with their author, and changes neither', async () => {
    const folder = await setup.folder('proj', { here: '1', gone: '1', there: '1', both: '1', same: '1' });
    await setup.run('push', folder);
    await put(folder, { here: '2', both: '2', fresh: '2' });
    await rm(join(folder, 'gone'));
    const write = (path: string, text: string) =>
      setup.fixture.user.post(`/workspaces/${setup.fixture.workspaceId}/tools`, {
        tool: 'write',
        args: { path, content: { text } },
      });
    for (const name of ['there', 'both', 'new']) await write(`/proj/${name}`, 'theirs');
    const { out } = await setup.run('status', folder);
    expect(out.slice(out.indexOf('Folder')).split('\n').slice(1, -1)).toEqual(
      [
        '3 changed here; "patchbay push" sends it:',
        '  fresh (added)',
        '  here (changed)',
        '  gone (deleted)',
        '2 changed in the Cloud; "patchbay pull" brings it:',
        '  new (added)',
        '  there (changed)',
        '1 changed on both sides; "patchbay push --force" or "pull --force" decides, and keeps the other version:',
        '  both (was changed here, and in the Cloud too)',
      ].map((line) => `           ${line}`),
    );
    const again = await setup.run('status', folder, '--json');
    expect(JSON.parse(again.out)).toMatchObject({
      server: server.url,
      user: { id: setup.fixture.user.id, email: setup.fixture.user.email },
      workspace: { id: setup.fixture.workspaceId },
      ...{ clients: [], turns: [], moreTurns: false, othersTurns: 0 },
      folder: { name: 'proj', inCloud: [{ path: 'new', change: 'added' }, { path: 'there' }], faults: [] },
    });
  });

  it('reports open turns of others to an owner, and only the own ones to a member', async () => {
    const { fixture } = setup;
    const ben = await fixture.server.register();
    await fixture.user.addMember(fixture.workspaceId, ben);
    await fixture.post([createCall('c1')], { turnId: 't1' });
    const owner = await setup.run('status', setup.directory);
    expect(owner.out).toContain('turn t1');
    const asBen = ['status', '--home', setup.home, '--url', fixture.server.url, '--token', ben.token];
    const member = await setup.bare([...asBen, '--workspace', fixture.workspaceId, setup.directory]);
    expect([member.code, member.out]).toEqual([0, expect.stringContaining('Open       nothing\n')]);
    const session = await ben.post<{ sessionId: string }>(`/workspaces/${fixture.workspaceId}/sessions`, {});
    const turns = `/workspaces/${fixture.workspaceId}/sessions/${session.body.sessionId}/turns`;
    await ben.post(turns, { toolCalls: [createCall('c2')], waitMs: 0 });
    expect((await setup.run('status', setup.directory)).out).toContain('1 turn of other members\n');
  });
});
