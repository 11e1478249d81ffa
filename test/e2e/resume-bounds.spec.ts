import { jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { storesOf } from '../contract/backends.js';
import { createdResult, FakeClient, journalEntry } from '../support/fake-client.js';
import { suiteFixture, testFixture } from '../support/fixtures.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';

describe('the journal that a client resumes with', () => {
  const fixture = suiteFixture(() => RelayFixture.start());
  const client = testFixture(() => FakeClient.connect(fixture.clientOptions()));
  beforeEach(async () => {
    fixture.clients.push(client);
  });

  it('may be sent again after it was rejected', async () => {
    const entry = { turnId: 't', callId: randomUUID(), attempt: 1, state: 'running' };
    const journals: unknown[] = [
      ...[null, {}, 'x', [null], [[]]],
      [{ ...entry, state: 'resting' }],
      [{ ...entry, callId: 'x' }],
      [{ ...entry, attempt: 0 }],
      [{ ...entry, extra: 1 }],
      Array.from({ length: 1_001 }, () => ({ ...entry, callId: randomUUID() })),
    ];
    for (const journal of journals) {
      expect(await client.send('client:resume', journal)).toMatchObject({
        ok: false,
        error: { code: 'VALIDATION_ERROR' },
      });
    }
    expect(await client.send('tool:status', {})).toMatchObject({ error: { code: 'CONFLICT' } });
    expect(await client.resume([])).toEqual({ ok: true, forget: [], resume: [] });
  });

  it('may repeat a call many times, which is read once [RELAY-4]', async () => {
    const first = await fixture.client({ clientId: 'editor-2' });
    await fixture.post([createCall('a')]);
    const call = await first.delivery();
    await fixture.postResults(call.turnId, [{ toolCallId: 'a', result: createdResult(call) }]);
    const { turns } = storesOf(fixture.server.app);
    const lookedUp = jest.spyOn(turns, 'ofCall');
    const checked = jest.spyOn(turns, 'resultOf');
    const finished = journalEntry(call, 'succeeded', { result: createdResult(call), executionMs: 4 });
    const answer = await client.resume(Array.from({ length: 1_000 }, () => finished));
    expect(answer).toEqual({ ok: true, forget: [call.callId], resume: [] });
    expect(lookedUp.mock.calls.length).toBeLessThanOrEqual(1);
    expect(checked.mock.calls.length).toBeLessThanOrEqual(1);
    jest.restoreAllMocks();
  });

  it('may have the maximum length', async () => {
    const state = 'running' as const;
    const journal = Array.from({ length: 1_000 }, () => ({
      ...{ turnId: 't', callId: randomUUID(), attempt: 1, state },
    }));
    expect(await client.resume(journal)).toMatchObject({ forget: { length: 1_000 } });
  });
});
