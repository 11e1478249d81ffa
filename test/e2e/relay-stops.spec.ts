import { Lifecycle } from '../../src/common/lifecycle.js';
import { TurnStore } from '../../src/storage/ports/turns.store.js';
import { OpenTurns } from '../../src/turns/engine/open-turns.js';
import { storesOf } from '../contract/backends.js';
import { FakeClient } from '../support/fake-client.js';
import { hold } from '../support/hold.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';

describe('the relay of a server that stops', () => {
  it('notifies its clients and answers requests that wait for a turn [RELAY-13]', async () => {
    const fixture = await RelayFixture.start();
    const client = await fixture.client();
    const waiting = fixture.post([createCall('a')], { waitMs: 60_000 });
    await client.delivery();
    await fixture.server.app.close();
    expect(client.notices).toEqual(['server:draining']);
    await client.closed();
    expect(await waiting).toMatchObject({
      status: 202,
      body: { result: { kind: 'client_tool_continuation' } },
    });
    client.close();
    await fixture.server.close();
  });

  it('accepts no more connections [RELAY-13]', async () => {
    const fixture = await RelayFixture.start();
    fixture.server.app.get(Lifecycle).stop();
    await expect(FakeClient.connect(fixture.clientOptions())).rejects.toMatchObject({
      data: { code: 'UNAVAILABLE' },
    });
    await fixture.server.close();
  });

  it('accepts no more turns, not even from a request that has begun [RELAY-13]', async () => {
    const fixture = await RelayFixture.start();
    const slow = hold(storesOf(fixture.server.app).sessions, 'byId');
    const posted = [fixture.post([createCall('a')])];
    await slow.reached;
    fixture.server.app.get(Lifecycle).stop();
    posted.push(fixture.post([createCall('b')]));
    expect(await posted[1]).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } });
    slow.release();
    expect(await posted[0]).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } });
    await fixture.server.close();
  });

  it('accepts the result of a running call and sends no further call [RELAY-13]', async () => {
    const fixture = await RelayFixture.start();
    const client = await fixture.client({ maxInFlight: 1 });
    const { turnId } = (await fixture.post([createCall('a'), createCall('b')])).body.result;
    const call = await client.delivery();
    fixture.server.app.get(Lifecycle).stop();
    expect(await client.report(call)).toEqual({ ok: true });
    const ref = { ...fixture.session, turnId };
    await fixture.server.app.get(OpenTurns, { strict: false }).flush(ref);
    const turn = await fixture.server.app.get(TurnStore, { strict: false }).find(ref);
    expect(turn!.calls.map(({ status }) => status)).toEqual(['succeeded', 'pending']);
    client.close();
    await fixture.server.close();
  });
});
