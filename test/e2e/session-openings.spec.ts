import type { Credentials } from '@patchbay/protocol';
import { aRoot, FakeClient } from '../support/fake-client.js';
import { suiteFixture, testFixture } from '../support/fixtures.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { PASSWORD, startTestServer } from '../support/server.js';
import { ShiftedClock } from '../support/shifted-clock.js';
import { waitFor } from '../support/wait-for.js';

describe('session:opened', () => {
  const clock = new ShiftedClock();
  const server = suiteFixture(() => startTestServer({ clock }));
  const user = testFixture(() => server.register());
  const fixture = testFixture(() => RelayFixture.on(server, user));

  const ids = ({ sessions }: FakeClient): string[] => sessions.map(({ sessionId }) => sessionId);
  const untilTold = (client: FakeClient, count: number): Promise<void> =>
    waitFor(() => client.sessions.length >= count, `${count} sessions`);

  it('is sent to the user’s clients when a session is created [RELAY-20]', async () => {
    const bob = await server.register();
    await user.addMember(fixture.workspaceId, bob);
    const clients = [
      await fixture.client({ clientId: 'one', roots: [aRoot('proj')] }),
      await fixture.client({ clientId: 'two' }),
      await fixture.client({ clientId: 'bobs', token: bob.token }),
    ] as const;
    for (const client of clients.slice(0, 2)) await untilTold(client, 1);
    for (const client of clients) client.sessions.length = 0;
    await fixture.newSession();
    const { sessionId, conversationId } = fixture.session;
    for (const client of clients.slice(0, 2)) await untilTold(client, 1);
    expect(clients.map(({ sessions }) => sessions)).toEqual([
      [{ sessionId, conversationId }],
      [{ sessionId, conversationId }],
      [],
    ]);
    await fixture.newSession('two');
    await untilTold(clients[1], 2);
    expect(ids(clients[0])).toEqual([sessionId]);
  });

  it('is sent to a connecting client for the newest sessions of its user [RELAY-20]', async () => {
    const mine = aRoot('mine');
    const begun = fixture.session.sessionId;
    const first = await fixture.client({ clientId: 'one', roots: [mine] });
    await fixture.post([createCall('a')]);
    await first.report(await first.delivery());
    await fixture.newSession('one');
    const bound = fixture.session.sessionId;
    await fixture.newSession();
    const free = fixture.session.sessionId;
    const other = await fixture.client({ clientId: 'two', roots: [aRoot('theirs')] });
    const same = await fixture.client({ clientId: 'three', roots: [mine, aRoot('more')] });
    first.close();
    const again = await fixture.client({ clientId: 'one', roots: [mine] });
    await Promise.all([untilTold(again, 3), untilTold(same, 2), untilTold(other, 1)]);
    expect([ids(again), ids(same), ids(other)]).toEqual([[free, bound, begun], [free, begun], [free]]);
  });

  it('is sent once to a client that connects while a session is created [RELAY-20]', async () => {
    const client = await FakeClient.connect(fixture.clientOptions());
    fixture.clients.push(client);
    const before = fixture.session.sessionId;
    await fixture.newSession();
    await client.resume([]);
    await untilTold(client, 2);
    expect(ids(client)).toEqual([fixture.session.sessionId, before]);
  });

  it('is sent for at most twenty sessions of the last day [RELAY-20]', async () => {
    for (let made = 0; made < 20; made += 1) await fixture.newSession();
    const client = await fixture.client();
    await untilTold(client, 20);
    expect(client.sessions).toHaveLength(20);
    clock.pass(25 * 60 * 60_000);
    const login = { email: user.email, password: PASSWORD };
    Object.assign(user.credentials, (await server.request<Credentials>('POST', '/auth/login', login)).body);
    await fixture.newSession();
    const later = await fixture.client({ clientId: 'later' });
    await untilTold(later, 1);
    expect(ids(later)).toEqual([fixture.session.sessionId]);
  });
});
