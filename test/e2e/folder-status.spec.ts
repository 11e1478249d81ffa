import type { FolderStatus, WorkspaceRoot } from '@patchbay/protocol';
import { aRoot, type FakeClient } from '../support/fake-client.js';
import { testFixture } from '../support/fixtures.js';
import { RelayFixture } from '../support/relay-fixture.js';
import { oneServer } from '../support/server.js';
import { waitFor } from '../support/wait-for.js';

describe('folder:status', () => {
  const server = oneServer();
  const fixture = testFixture(async () => RelayFixture.on(server(), await server().register()));
  let client: FakeClient;
  const proj = aRoot('Proj');
  beforeEach(async () => {
    client = await fixture.client({ roots: [proj] });
  });

  const STATUS: FolderStatus = {
    ...{ docPath: 'proj', conflicts: ['proj/a.txt'], behind: ['proj/b/c.txt'], more: 3 },
  };
  const folder = async (): Promise<WorkspaceRoot> => {
    const path = `/workspaces/${fixture.workspaceId}/roots`;
    const { body } = await fixture.user.get<{ roots: WorkspaceRoot[] }>(path);
    return body.roots.find(({ docPath }) => docPath === 'proj')!;
  };

  it('is kept until the next one, also while the client is away [RELAY-22] [ROOT-2]', async () => {
    const { docPath: _, ...said } = STATUS;
    expect(await client.send('folder:status', STATUS)).toEqual({ ok: true });
    expect(await folder()).toMatchObject(said);
    client.close();
    await waitFor(async () => !(await folder()).connected, 'the end of its presence');
    expect(await folder()).toMatchObject(said);
    const again = await fixture.client({ roots: [proj] });
    expect(await folder()).toMatchObject({ ...said, connected: true });
    const nothing = { conflicts: [], behind: [], more: 0 };
    expect(await again.send('folder:status', { docPath: 'proj', ...nothing })).toEqual({ ok: true });
    expect(await folder()).toMatchObject(nothing);
  });

  it.each([
    ['another folder', { docPath: 'other' }, 'docPath'],
    ['a file of another folder', { conflicts: ['proj/a', 'project/a'] }, 'conflicts[1]'],
    ['the folder itself as a file', { behind: ['proj'] }, 'behind[0]'],
    ['a path that is not folded', { behind: ['proj/A'] }, 'behind[0]'],
    ['a path that leads out', { behind: ['proj/../a'] }, 'behind[0]'],
    [
      'more than a hundred files',
      { conflicts: Array.from({ length: 101 }, (_, at) => `proj/${at}`) },
      'conflicts',
    ],
    ['what is no text', { conflicts: [7] }, 'conflicts'],
    ['a count below nothing', { more: -1 }, 'more'],
    ['an unknown property', { colour: 'red' }, 'colour'],
  ])('rejects a status with %s and keeps nothing of it [RELAY-22]', async (_, change, field) => {
    expect(await client.send('folder:status', { ...STATUS, ...change })).toMatchObject({
      ...{
        ok: false,
        error: { code: 'VALIDATION_ERROR', message: expect.stringContaining(field) as string },
      },
    });
    expect(await folder()).toMatchObject({ conflicts: [], behind: [], more: 0 });
  });
});
