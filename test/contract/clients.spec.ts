import type { ClientRoot, FolderStatus } from '@patchbay/protocol';
import { newId } from '../../src/common/ids.js';
import type { ClientAnnouncement, ClientRecord, ClientStatuses } from '../../src/storage/records/clients.js';
import { NOON } from '../../src/turns/state/turn.sample.js';
import { describeContract } from './backends.js';
import { givenWorkspace } from './records.js';

const PROJ: ClientRoot = { name: 'Proj', docPath: 'proj', rootId: newId() };
const OTHER: ClientRoot = { name: 'other', docPath: 'other', rootId: newId() };

function aClient(workspaceId: string, changes: Partial<ClientAnnouncement> = {}): ClientAnnouncement {
  return {
    ...{ workspaceId, userId: 'ada', clientId: 'editor', name: 'Editor "one"', roots: [PROJ] },
    tools: [],
    ...{ epoch: 1, connectionId: newId(), node: newId(), connectedAt: NOON, until: NOON + 90, ...changes },
  };
}

function saying(docPath: string, conflicts: string[]): FolderStatus {
  return { docPath, conflicts, behind: [], more: 0 };
}

describeContract('clients', (opened) => {
  const ofAda = (workspaceId: string): Promise<ClientRecord[]> =>
    opened().stores.clients.ofUser(workspaceId, 'ada', 9);
  const told = (workspaceId: string) => opened().stores.clients.statusesOf(workspaceId, 'ada', 9);

  it('are known with the announcement of their newest connection until it has left', async () => {
    const { clients } = opened().stores;
    const first = aClient(await givenWorkspace(opened().stores));
    const { workspaceId } = first;
    await clients.connected(first);
    expect(await ofAda(workspaceId)).toEqual([{ ...first, leftAt: null }]);
    const second = aClient(workspaceId, { roots: [], connectedAt: NOON + 1, until: NOON + 91 });
    await clients.connected(second);
    await clients.disconnected(first, first.connectionId, NOON + 2);
    await clients.connected(first);
    expect(await ofAda(workspaceId)).toEqual([{ ...second, leftAt: null }]);
    await clients.disconnected(second, second.connectionId, NOON + 3);
    await clients.disconnected(second, second.connectionId, NOON + 4);
    await clients.connected(second);
    expect(await ofAda(workspaceId)).toEqual([{ ...second, leftAt: NOON + 3 }]);
  });

  it('belong to the connection of the greatest epoch, and of one epoch to that of the greatest id', async () => {
    const { clients } = opened().stores;
    const second = aClient(await givenWorkspace(opened().stores), { epoch: 2 });
    const { workspaceId } = second;
    expect(await clients.epochOf(second)).toBe(0);
    expect(await clients.epochOf({ ...second, workspaceId: 'no-such-workspace' })).toBe(0);
    await clients.connected(second);
    await clients.connected(aClient(workspaceId, { epoch: 1 }));
    expect([await clients.epochOf(second), (await ofAda(workspaceId))[0]]).toEqual([
      2,
      { ...second, leftAt: null },
    ]);
    const twin = aClient(workspaceId, { epoch: 2 });
    for (const client of [twin, second]) await clients.connected(client);
    expect(await ofAda(workspaceId)).toEqual([{ ...twin, leftAt: null }]);
    const third = aClient(workspaceId, { epoch: 3, connectionId: '0 of a clock that was set back' });
    for (const client of [third, twin]) await clients.connected({ ...client });
    expect(await ofAda(workspaceId)).toEqual([{ ...third, leftAt: null }]);
  });

  it('are listed for one user in one workspace, up to a limit', async () => {
    const { stores } = opened();
    const workspaceId = await givenWorkspace(stores);
    const [old, young] = [
      aClient(workspaceId, { clientId: 'old' }),
      aClient(workspaceId, { clientId: 'young', connectedAt: NOON + 1 }),
    ];
    for (const client of [old, young]) await stores.clients.connected(client);
    await stores.clients.connected(aClient(workspaceId, { userId: 'bob' }));
    await stores.clients.connected(aClient(await givenWorkspace(stores)));
    expect((await ofAda(workspaceId)).map(({ clientId }) => clientId)).toEqual(['young', 'old']);
    expect(await stores.clients.ofUser(workspaceId, 'ada', 1)).toEqual([{ ...young, leftAt: null }]);
    expect(await stores.clients.ofUser('no-such-workspace', 'ada', 9)).toEqual([]);
    expect(await stores.clients.statusesOf('no-such-workspace', 'ada', 9)).toEqual([]);
  });

  it('are listed with connected ones first, and then by last contact', async () => {
    const { clients } = opened().stores;
    const workspaceId = await givenWorkspace(opened().stores);
    const now = NOON + 1_000;
    const [editor, young, crashed, ...gone] = ['editor', 'young', 'crashed', 'gone-1', 'gone-2'].map(
      (clientId, at) => aClient(workspaceId, { clientId, connectedAt: NOON + at, until: now + 90 }),
    );
    crashed!.until = NOON + 500;
    for (const client of [editor!, young!, crashed!, ...gone]) await clients.connected(client);
    await clients.disconnected(gone[0]!, gone[0]!.connectionId, NOON + 501);
    await clients.disconnected(gone[1]!, gone[1]!.connectionId, NOON + 499);
    const names = async (limit: number): Promise<string[]> =>
      (await clients.ofUser(workspaceId, 'ada', limit)).map(({ clientId }) => clientId);
    expect(await names(9)).toEqual(['young', 'editor', 'gone-1', 'crashed', 'gone-2']);
    expect(await names(2)).toEqual(['young', 'editor']);
    const told = await clients.statusesOf(workspaceId, 'ada', 3);
    expect(told.map(({ clientId }) => clientId)).toEqual(['young', 'editor', 'gone-1']);
  });

  it('report each folder once, and the report is kept while they have the folder', async () => {
    const { clients } = opened().stores;
    const first = aClient(await givenWorkspace(opened().stores), { roots: [PROJ, OTHER] });
    const { workspaceId } = first;
    await clients.connected(first);
    await clients.reported(first, first.connectionId, saying('proj', ['proj/a']));
    await clients.reported(first, first.connectionId, saying('other', []));
    await clients.reported(first, first.connectionId, saying('proj', ['proj/b']));
    const both = [saying('other', []), saying('proj', ['proj/b'])];
    expect(await told(workspaceId)).toEqual([{ clientId: 'editor', statuses: both }]);
    const second = aClient(workspaceId, { roots: [PROJ] });
    await clients.connected(second);
    await clients.reported(first, first.connectionId, saying('proj', ['proj/c']));
    expect(await told(workspaceId)).toEqual([{ clientId: 'editor', statuses: [both[1]] }]);
  });

  it('keep concurrent reports of two folders', async () => {
    const { clients } = opened().stores;
    const client = aClient(await givenWorkspace(opened().stores), { roots: [PROJ, OTHER] });
    await clients.connected(client);
    const both = [saying('proj', ['proj/a']), saying('other', [])];
    await Promise.all(both.map((status) => clients.reported(client, client.connectionId, status)));
    const [{ statuses }] = (await told(client.workspaceId)) as [ClientStatuses];
    expect(statuses).toHaveLength(2);
    expect(statuses).toEqual(expect.arrayContaining(both));
  });

  it('are connected while the lease of their node lasts, and not after its restart', async () => {
    const { clients } = opened().stores;
    const workspaceId = await givenWorkspace(opened().stores);
    const [a, b] = [aClient(workspaceId, { clientId: 'a' }), aClient(workspaceId, { clientId: 'b' })];
    const gone = aClient(workspaceId, { clientId: 'gone', node: a.node });
    for (const client of [a, b, gone]) await clients.connected(client);
    await clients.disconnected(gone, gone.connectionId, NOON + 1);
    await clients.renew(a.node, NOON + 200);
    const expected = [
      { ...a, until: NOON + 200, leftAt: null as number | null },
      { ...b, leftAt: null },
      { ...gone, leftAt: NOON + 1 },
    ];
    expect(await ofAda(workspaceId)).toEqual(expected);
    await clients.endAll(a.node, NOON + 5);
    await clients.endAll(a.node, NOON + 5);
    expected[0]!.leftAt = NOON + 5;
    expect(await ofAda(workspaceId)).toEqual([expected[1], expected[0], expected[2]]);
  });

  it('are removed when they were not seen for long', async () => {
    const { clients } = opened().stores;
    const workspaceId = await givenWorkspace(opened().stores);
    const [old, young] = [
      aClient(workspaceId, { clientId: 'old', until: NOON - 1 }),
      aClient(workspaceId, { clientId: 'young', until: NOON }),
    ];
    for (const client of [old, young]) await clients.connected(client);
    await clients.removeUnseen(NOON);
    expect(await ofAda(workspaceId)).toEqual([{ ...young, leftAt: null }]);
  });
});
