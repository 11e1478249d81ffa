import { jest } from '@jest/globals';
import { ClientReports } from '../../src/turns/engine/client-reports.js';
import { storesOf } from '../contract/backends.js';
import { journalEntry } from '../support/fake-client.js';
import { suiteFixture, testFixture } from '../support/fixtures.js';
import { hold } from '../support/hold.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { startTestServer } from '../support/server.js';

describe('a client before its resume', () => {
  const server = suiteFixture(() => startTestServer());
  const user = suiteFixture(() => server.register());
  const fixture = testFixture(() => RelayFixture.on(server, user));

  it('gets another call when one of its calls ends during the resume', async () => {
    const before = await fixture.client();
    const { turnId } = (await fixture.post([createCall('a')])).body.result;
    const call = await before.delivery();
    await before.status(call, 'running');
    before.close();
    const slow = hold(storesOf(server.app).clients, 'connected');
    const returning = fixture.client({ maxInFlight: 1 }, [journalEntry(call, 'running')]);
    await slow.reached;
    await fixture.cancel(turnId);
    slow.release();
    const client = await returning;
    await fixture.post([createCall('b')]);
    await client.report(await client.delivery());
  });

  it('is answered only after other nodes know it and its folders [RELAY-19]', async () => {
    const slow = hold(storesOf(server.app).clients, 'connected');
    let isAnswered = false;
    const returning = fixture.client().then((client) => ((isAnswered = true), client));
    await slow.reached;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(isAnswered).toBe(false);
    slow.release();
    await returning;
  });

  it('must reconnect when the calls that wait for it could not be sent', async () => {
    const takeUp = jest.spyOn(server.app.get(ClientReports, { strict: false }), 'takeUpPending');
    takeUp.mockRejectedValueOnce(new Error('disk'));
    const client = await fixture.client();
    await client.closed();
    takeUp.mockRestore();
  });
});
