import type { SessionContext } from '@patchbay/protocol';
import { aRoot } from '../support/fake-client.js';
import { testFixture } from '../support/fixtures.js';
import { RelayFixture } from '../support/relay-fixture.js';
import { waitFor } from '../support/wait-for.js';

describe('The folders in the context of a session', () => {
  const fixture = testFixture(() => RelayFixture.start());

  const path = () => `/workspaces/${fixture.workspaceId}/sessions/${fixture.session.sessionId}/context`;
  const markdown = async () => fixture.user.get<string>(path());
  const folders = async () => (await fixture.user.get<SessionContext>(`${path()}?format=json`)).body.folders;

  it('are the folders of the workspace with the status from the user’s own clients [CONTEXT-5] [RELAY-22]', async () => {
    const [mine, theirs] = [aRoot('Mine'), aRoot('theirs')];
    const bob = await fixture.server.register();
    await fixture.user.addMember(fixture.workspaceId, bob);
    await fixture.client({ clientId: 'bobs', token: bob.token, roots: [theirs] });
    const client = await fixture.client({ roots: [mine] });
    const many = Array.from({ length: 12 }, (_, at) => `mine/${String(at).padStart(2, '0')}`);
    const status = { docPath: 'mine', conflicts: many, behind: ['mine/new.txt'], more: 1 };
    expect(await client.send('folder:status', status)).toEqual({ ok: true });
    const since = expect.stringMatching(/^20.*Z$/) as string;
    const told = { conflicts: many.slice(0, 10), behind: ['mine/new.txt'], more: 3 };
    expect(await folders()).toEqual([
      { name: 'Mine', docPath: 'mine', connected: true, since, ...told },
      {
        ...{ name: 'theirs', docPath: 'theirs', connected: false, since: null },
        ...{ conflicts: [], behind: [], more: 0 },
      },
    ]);
    const { body } = await markdown();
    expect(body).toContain('`Mine/docs/notes.md` is `docs/notes.md` in the folder `Mine`');
    expect(body).toMatch(/- `theirs`: only in the Cloud for this user/);
    client.close();
    await waitFor(async () => !(await folders())[0]!.connected, 'the end of its presence');
    expect((await folders())[0]).toMatchObject({ since, ...told });
  });

  it('keep the text before them unchanged when they change [CONTEXT-2]', async () => {
    await fixture.user.request('PUT', `/workspaces/${fixture.workspaceId}/contents/proj/a.txt`, 'a');
    const client = await fixture.client({ roots: [aRoot('proj')] });
    const first = await markdown();
    await client.send('folder:status', { docPath: 'proj', conflicts: [], behind: [], more: 0 });
    const second = await markdown();
    expect([second.body, second.headers.get('etag')]).toEqual([first.body, first.headers.get('etag')]);
    await client.send('folder:status', { docPath: 'proj', conflicts: ['proj/a.txt'], behind: [], more: 0 });
    const { body } = await markdown();
    const before = first.body.slice(0, first.body.indexOf('# Active Files')).trimEnd();
    expect(before).toContain('- `proj`: on the user');
    expect([body.startsWith(before), body === first.body]).toEqual([true, false]);
  });
});
