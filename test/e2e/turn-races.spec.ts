import { jest } from '@jest/globals';
import { DomainError } from '../../src/common/domain-error.js';
import { PatchStore } from '../../src/storage/ports/patches.store.js';
import { TurnStore } from '../../src/storage/ports/turns.store.js';
import { patchCall } from '../support/patch-fixture.js';
import { storesOf } from '../contract/backends.js';
import { testFixture } from '../support/fixtures.js';
import { hold } from '../support/hold.js';
import { createCall } from '../support/relay-fixture.js';
import { TurnFixture } from '../support/turn-fixture.js';

describe('a turn that was not stored', () => {
  const setup = new TurnFixture();
  afterEach(() => jest.restoreAllMocks());
  const fixture = testFixture(() => setup.open());
  let turns: TurnStore;
  beforeAll(() => void (turns = setup.server.app.get(TurnStore, { strict: false })));

  /** Both of two turns are built before the first of them is stored. */
  function meetAtTheStore(): void {
    const insert = turns.insert.bind(turns);
    let arrived = 0;
    let go!: () => void;
    const both = new Promise<void>((resolve) => (go = resolve));
    jest.spyOn(turns, 'insert').mockImplementation(async (...turn) => {
      if (++arrived === 2) go();
      await both;
      return insert(...turn);
    });
  }

  /** The client's window takes so many calls as if there had never been others. */
  async function expectRoomFor(calls: number): Promise<void> {
    const client = fixture.clients[0]!;
    const ids = Array.from({ length: calls }, (_, at) => `next-${at}`);
    const { body } = await fixture.post(ids.map((id) => createCall(id)));
    await client.delivery(calls);
    await fixture.cancel(body.result.turnId);
  }

  it('because the store failed frees the slots of its calls', async () => {
    await fixture.client({ maxInFlight: 2 });
    jest.spyOn(turns, 'insert').mockRejectedValueOnce(new DomainError('UNAVAILABLE', 'The disk is full.'));
    const refused = await fixture.post([createCall('c'), createCall('d')]);
    expect(refused).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } });
    await expectRoomFor(2);
  });

  it('because an equal one was faster frees the slots of its calls', async () => {
    const client = await fixture.client({ maxInFlight: 2 });
    meetAtTheStore();
    const posted = [1, 2].map(() => fixture.post([createCall('c')], { turnId: 't' }));
    const callIds = (await Promise.all(posted)).map(({ body }) => body.result.toolCalls[0]!.callId);
    expect(callIds[1]).toBe(callIds[0]);
    await client.report(await client.delivery());
    client.calls.splice(0);
    await expectRoomFor(2);
  });

  it('is stored after the batches that its calls refer to', async () => {
    const slow = hold(storesOf(setup.server.app).patches, 'insert');
    const insert = jest.spyOn(turns, 'insert');
    const posted = fixture.post([patchCall()], { turnId: 't' });
    await slow.reached;
    // Long enough to be stored, if it did not wait.
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(insert).not.toHaveBeenCalled();
    slow.release();
    expect((await posted).status).toBe(202);
    await fixture.cancel('t');
  });

  it('because an equal one was faster leaves no batch', async () => {
    const patches = setup.server.app.get(PatchStore, { strict: false });
    const built = jest.spyOn(patches, 'insert');
    meetAtTheStore();
    await Promise.all([1, 2].map(() => fixture.post([patchCall()], { turnId: 't' })));
    const { batchId } = (await turns.find({ ...fixture.session, turnId: 't' }))!.calls[0]!;
    const batches = built.mock.calls.map(([record]) => record.batch.batchId!);
    expect(batches).toHaveLength(2);
    const kept = await Promise.all(batches.map((id) => patches.byId(fixture.workspaceId, id)));
    expect(kept.flatMap((record) => record?.batchId ?? [])).toEqual([batchId]);
    await fixture.cancel('t');
  });
});
