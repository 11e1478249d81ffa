import type { ClientRoot, OpenToolCall } from '@patchbay/protocol';
import { aRoot, type FakeClient } from '../support/fake-client.js';
import { suiteFixture, testFixture } from '../support/fixtures.js';
import { patchCall } from '../support/patch-fixture.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { storesOf } from '../contract/backends.js';
import { startTestServer } from '../support/server.js';
import { waitFor } from '../support/wait-for.js';

const TOOLS = ['workspace_create_file', 'workspace_write_patch'];

describe('a call', () => {
  const server = suiteFixture(() => startTestServer({ config: { graceMs: 100 } }));
  const user = suiteFixture(() => server.register());
  const fixture = testFixture(() => RelayFixture.on(server, user));

  const [proj, proj2] = [aRoot('Proj'), aRoot('proj2')];
  const connect = (clientId: string, ...roots: ClientRoot[]): Promise<FakeClient> =>
    fixture.client({ clientId, roots, tools: TOOLS });
  /** Posts one call and says which of the clients were sent it. */
  async function sent(call: Record<string, unknown>, ...clients: FakeClient[]): Promise<boolean[]> {
    const before = clients.map(({ calls }) => calls.length);
    const { body } = await fixture.post([call], { waitMs: 300 });
    const got = clients.map(({ calls }, at) => calls.length > before[at]!);
    // What went out is ended, so that no window is full.
    for (const client of clients.filter((_, at) => got[at])) await client.report(client.calls.at(-1)!);
    if (!got.includes(true)) expect(body.result.toolCalls).toMatchObject([{ status: 'pending', attempt: 0 }]);
    return got;
  }

  it.each([
    ['a file to create', createCall('c', 'proj/a.txt')],
    ['its name in other letters', createCall('c', 'PROJ/a.txt')],
    ['backslashes', createCall('c', 'proj\\a.txt')],
    ['a leading ./', createCall('c', './proj/a.txt')],
    ['a patch', patchCall([{ docPath: 'proj/a.txt' }])],
  ])('naming a folder goes to the client that has the folder: %s [RELAY-15] [RELAY-16]', async (_, call) => {
    const [first, second] = [await connect('one', proj), await connect('two', proj2)];
    expect(await sent(createCall('first', 'proj2/b.txt'), first, second)).toEqual([false, true]);
    expect(await sent(call, first, second)).toEqual([true, false]);
    expect(await sent(createCall('last', 'proj2/c.txt'), first, second)).toEqual([false, true]);
  });

  it('naming a folder waits for a client that has the folder, and says which folder [RELAY-15] [RELAY-16]', async () => {
    const [first, second] = [await connect('one', proj), await connect('two', proj2)];
    first.close();
    const posted = await fixture.post([createCall('c', 'proj/a.txt')], { turnId: 't', waitMs: 300 });
    expect(posted.body.result.toolCalls).toMatchObject([{ status: 'pending', roots: ['proj'] }]);
    expect(second.calls).toEqual([]);
    const again = await connect('three', proj);
    expect((await again.delivery()).toolCallId).toBe('c');
    await again.report(again.calls[0]!);
    await fixture.post([createCall('free')], { turnId: 'free' });
    expect((await fixture.calls('free')).free).not.toHaveProperty('roots');
  });

  it('naming a folder that was removed while its client was away is routed like one without a folder [RELAY-15] [ROOT-3]', async () => {
    const [first, client] = [await connect('one', proj), await connect('two', proj2)];
    const path = `/workspaces/${fixture.workspaceId}/roots/proj`;
    expect((await user.request('DELETE', path)).status).toBe(204);
    // Whoever has it connected keeps it.
    expect(await sent(createCall('a', 'proj/a.txt'), first, client)).toEqual([true, false]);
    await fixture.newSession();
    first.close();
    const { clients } = storesOf(server.app);
    const known = () => clients.ofUser(fixture.workspaceId, user.id, 9);
    await waitFor(
      async () => (await known()).some(({ leftAt }) => leftAt !== null),
      'the end of its presence',
    );
    expect(await sent(createCall('b', 'proj/b.txt'), client)).toEqual([true]);
  });

  it('that no client took in time says which folder to connect [RELAY-16]', async () => {
    const client = await connect('one', proj, proj2);
    client.close();
    await connect('other', aRoot('other'));
    const late = { timeouts: { deliveryMs: 200 }, waitMs: 20_000 };
    const call = (id: string, path: string): Record<string, unknown> => createCall(id, path);
    const both = { ...patchCall([{ docPath: 'proj/a.txt' }, { docPath: 'proj2/a.txt' }]), toolCallId: 'b' };
    const { body } = await fixture.post([call('a', 'proj/a.txt'), both], late);
    expect(body.result.toolResults.map(({ error }) => error)).toEqual([
      {
        code: 'DELIVERY_TIMEOUT',
        message: 'No client with the folder `proj` took the call in time. Connect it: patchbay connect.',
      },
      {
        code: 'DELIVERY_TIMEOUT',
        message:
          'No client with the folders `proj`, `proj2` took the call in time. Connect them together: patchbay connect.',
      },
    ]);
  });

  it('naming another user’s folder is routed like one without a folder', async () => {
    const bob = await server.register();
    await user.addMember(fixture.workspaceId, bob);
    await fixture.client({ clientId: 'bobs', token: bob.token, roots: [proj] });
    const client = await connect('one', proj2);
    expect(await sent(createCall('c', 'proj/a.txt'), client)).toEqual([true]);
  });

  it('of a bound session is sent to its client only, if that has the folder [RELAY-16]', async () => {
    const [bound, other] = [await connect('bound', proj2), await connect('other', proj)];
    await fixture.newSession('bound');
    expect(await sent(createCall('c', 'proj/a.txt'), bound, other)).toEqual([false, false]);
    expect(await sent(createCall('d', 'proj2/a.txt'), bound, other)).toEqual([true, false]);
    await fixture.client({ clientId: 'bound', roots: [proj2, proj] });
  });

  it('without a folder goes to the first folder of its session [RELAY-17]', async () => {
    const first = await connect('one', proj);
    expect(await sent(createCall('a', 'a.txt'), first)).toEqual([true]);
    first.close();
    const second = await connect('two', proj2);
    const rootless = await fixture.client({ clientId: 'none' });
    expect(await sent(createCall('b', 'b.txt'), second, rootless)).toEqual([false, false]);
    // Another client of the same folder, with one more, is as good.
    const wider = await connect('three', proj2, proj);
    expect((await wider.delivery()).toolCallId).toBe('b');
    await wider.report(wider.calls[0]!);
    await fixture.newSession();
    expect(await sent(createCall('c', 'c.txt'), second, rootless, wider)).toEqual([false, false, true]);
  });

  it('naming a folder does not change the first folder of the session [RELAY-17]', async () => {
    const [first, second] = [await connect('one', proj), await connect('two', proj2)];
    expect(await sent(createCall('a', 'proj/a.txt'), first, second)).toEqual([true, false]);
    expect(await sent(createCall('b', 'proj2/a.txt'), first, second)).toEqual([false, true]);
    expect(await sent(createCall('c', 'c.txt'), first, second)).toEqual([true, false]);
  });

  it('of concurrent turns goes to the folder of the first turn [RELAY-17]', async () => {
    const names = ['a', 'b', 'c', 'd'];
    await Promise.all(names.map((name) => fixture.post([createCall(name)], { turnId: name })));
    const first = await fixture.client({ clientId: 'one', roots: [proj], tools: TOOLS, maxInFlight: 1 });
    await first.delivery();
    const second = await connect('two', proj2);
    await fixture.post([createCall('e')], { turnId: 'e', waitMs: 300 });
    expect([first.calls.length, second.calls]).toEqual([1, []]);
    for (let done = 1; done <= 5; done += 1) await first.report(await first.delivery(done));
    expect(second.calls).toEqual([]);
  });

  it('goes from one client to another where both have no folders [RELAY-17]', async () => {
    const first = await fixture.client({ clientId: 'one' });
    expect(await sent(createCall('a', 'proj/a.txt'), first)).toEqual([true]);
    const withFolder = await connect('two', proj2);
    first.close();
    expect(await sent(createCall('b', 'src/a.txt'), withFolder)).toEqual([false]);
    const next = await fixture.client({ clientId: 'three' });
    expect((await next.delivery()).toolCallId).toBe('b');
    await next.report(next.calls[0]!);
  });

  it('over two folders needs a client that has both [RELAY-18]', async () => {
    const [first, second] = [await connect('one', proj), await connect('two', proj2)];
    const over = patchCall([{ docPath: 'proj/a.txt' }, { docPath: 'proj2/a.txt' }]);
    const { body } = await fixture.post([over], { waitMs: 300 });
    expect(body.result.toolResults).toMatchObject([
      {
        status: 'failed',
        error: {
          code: 'INVALID_ARGUMENTS',
          message: 'No client has the folders `proj`, `proj2` together. Send one batch per folder.',
          details: { roots: ['proj', 'proj2'] },
        },
      },
    ]);
    const both = await connect('three', proj, proj2);
    await fixture.post([over], { turnId: 't', waitMs: 300 });
    expect([first.calls, second.calls, both.calls.length]).toEqual([[], [], 1]);
    expect((await fixture.calls('t')).p1 as OpenToolCall).toMatchObject({ roots: ['proj', 'proj2'] });
  });
});
