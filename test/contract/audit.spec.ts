import type { AuditFilter } from '../../src/storage/ports/audit.store.js';
import { isoTime } from '../../src/common/clock.js';
import { describeContract } from './backends.js';
import { anEvent, findIn, givenWorkspace, insertTurn, trailOf, upTo } from './records.js';
import type { Call } from '../../src/storage/ports/turn.js';
import { aCall, aTurn, NOON } from '../../src/turns/state/turn.sample.js';

describeContract('the audit trail', (opened) => {
  it('returns an event as it was recorded, with its sequence number and an ISO time', async () => {
    const { stores } = opened();
    const workspaceId = await givenWorkspace(stores);
    const full = anEvent({
      at: NOON + 1,
      sessionId: 'session',
      conversationId: 'conversation',
      turnId: 'turn',
      toolCallId: 'call_1',
      callId: 'call',
      attempt: 2,
      actor: { userId: 'user', clientId: 'laptop' },
      fields: {
        toolName: 't',
        path: 'p',
        success: false,
        errorCode: 'E',
        sizeBytes: 3,
        more: { deep: [null] },
      },
    });
    const odd = anEvent({ fields: { toolName: 7, path: null, success: null, errorCode: null } });
    await stores.turns.record(workspaceId, [full, anEvent({ fields: { success: true } }), odd]);
    const trail = await trailOf(stores, workspaceId);
    expect(trail[0]).toEqual({ ...full, seq: 1, at: isoTime(NOON + 1) });
    expect(trail[1]).toMatchObject({ seq: 2, sessionId: null, attempt: null, fields: { success: true } });
    expect(trail[2]!.fields).toEqual(odd.fields);
  });

  it('keeps texts that a language model chose, and finds events by them', async () => {
    const { stores } = opened();
    const workspaceId = await givenWorkspace(stores);
    for (const text of ['a\0b', 'a', '\ud800', '\ufffd', '"', '"a\\u0000b"', '']) {
      const fields = { toolName: text, path: text, errorCode: text, 'key\0': text };
      const event = anEvent({ toolCallId: text, fields });
      await stores.turns.record(workspaceId, [event]);
      const filter = { toolCallId: text, toolName: text, path: text, errorCode: text };
      const found = await findIn(stores, workspaceId, filter, 0, 10);
      expect(found.map(({ eventId }) => eventId)).toEqual([event.eventId]);
      expect(found[0]).toMatchObject({ toolCallId: text, fields });
    }
  });

  it('has no gaps in a workspace, however many writes come at once [AUDIT-1]', async () => {
    const { stores } = opened();
    const workspaceId = await givenWorkspace(stores);
    await Promise.all(
      upTo(40).map((n) => {
        const events = [anEvent({ name: `${n}.first` }), anEvent({ name: `${n}.second` })];
        return n % 2 === 0
          ? stores.turns.record(workspaceId, events)
          : insertTurn(stores, aTurn(workspaceId), { events });
      }),
    );
    const trail = await trailOf(stores, workspaceId);
    expect(trail.map((event) => event.seq)).toEqual(upTo(80));
    const firsts = trail.filter((event) => event.name.endsWith('first'));
    for (const { seq, name } of firsts) expect(trail[seq]!.name).toBe(name.replace('first', 'second'));
  });

  it('numbers the events of each workspace separately', async () => {
    const { stores } = opened();
    const workspaces = await Promise.all(upTo(4).map(() => givenWorkspace(stores)));
    const writes = workspaces.flatMap((id) =>
      upTo(10).map(() => stores.turns.record(id, [anEvent({ turnId: id })])),
    );
    await Promise.all(writes);
    for (const id of workspaces) {
      const trail = await trailOf(stores, id);
      expect(trail.map((event) => event.seq)).toEqual(upTo(10));
      expect(trail.every((event) => event.turnId === id)).toBe(true);
    }
  });

  it('is empty for a workspace without events and for one that does not exist', async () => {
    const { stores } = opened();
    expect(await trailOf(stores, await givenWorkspace(stores))).toEqual([]);
    expect(await trailOf(stores, 'no-such-workspace')).toEqual([]);
    await expect(stores.turns.record('no-such-workspace', [anEvent()])).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });

  it('is paged by sequence number, filtered or not', async () => {
    const { stores } = opened();
    const workspaceId = await givenWorkspace(stores);
    await stores.turns.record(
      workspaceId,
      upTo(10).map((n) => anEvent({ sessionId: n % 2 === 0 ? 'even' : 'odd' })),
    );
    const page = async (filter: AuditFilter, after: number, limit: number) =>
      (await findIn(stores, workspaceId, filter, after, limit)).map((event) => event.seq);
    expect(await page({}, 0, 4)).toEqual([1, 2, 3, 4]);
    expect(await page({}, 8, 4)).toEqual([9, 10]);
    expect(await page({}, 10, 4)).toEqual([]);
    expect(await page({ sessionId: 'even' }, 0, 2)).toEqual([2, 4]);
    expect(await page({ sessionId: 'even' }, 4, 100)).toEqual([6, 8, 10]);
  });

  describe('filters', () => {
    const events = upTo(64).map((n) => {
      const bit = (i: number): 'a' | 'b' => ((n >> i) % 2 === 0 ? 'a' : 'b');
      return anEvent({
        name: bit(0),
        at: NOON + n,
        sessionId: bit(1),
        conversationId: bit(2),
        turnId: bit(3),
        toolCallId: bit(4),
        callId: bit(5),
        actor: { userId: 'u', clientId: bit(0) },
        fields: { toolName: bit(5), success: bit(1) === 'a', errorCode: bit(2), path: bit(3) },
      });
    });
    let workspaceId: string;

    beforeAll(async () => {
      workspaceId = await givenWorkspace(opened().stores);
      await opened().stores.turns.record(workspaceId, events);
    });

    const expected = (test: (event: (typeof events)[number]) => boolean): string[] =>
      events.filter(test).map((event) => event.eventId);
    const found = async (filter: AuditFilter): Promise<string[]> =>
      (await findIn(opened().stores, workspaceId, filter, 0, 100)).map((event) => event.eventId);

    it.each<[keyof AuditFilter, AuditFilter, (event: (typeof events)[number]) => boolean]>([
      ['sessionId', { sessionId: 'a' }, (event) => event.sessionId === 'a'],
      ['conversationId', { conversationId: 'a' }, (event) => event.conversationId === 'a'],
      ['turnId', { turnId: 'a' }, (event) => event.turnId === 'a'],
      ['toolCallId', { toolCallId: 'a' }, (event) => event.toolCallId === 'a'],
      [
        'callId',
        { callId: 'a', turnId: 'b' },
        ({ callId, turnId }: (typeof events)[number]) => callId === 'a' && turnId === 'b',
      ],
      ['userId', { userId: 'u' }, (event) => event.actor.userId === 'u'],
      ['clientId', { clientId: 'b' }, (event) => event.actor.clientId === 'b'],
      ['toolName', { toolName: 'a' }, (event) => event.fields.toolName === 'a'],
      ['event', { event: 'a' }, (event) => event.name === 'a'],
      ['success', { success: false }, (event) => event.fields.success === false],
      ['success', { success: true }, (event) => event.fields.success === true],
      ['errorCode', { errorCode: 'b' }, (event) => event.fields.errorCode === 'b'],
      ['path', { path: 'b' }, (event) => event.fields.path === 'b'],
      ['from', { from: NOON + 60 }, (event) => event.at >= NOON + 60],
      ['to', { to: NOON + 5 }, (event) => event.at <= NOON + 5],
    ])('by %s: %j', async (_name, filter, test) => {
      expect(expected(test).length).toBeGreaterThan(0);
      expect(await found(filter)).toEqual(expected(test));
    });

    it('can be combined', async () => {
      const filter = {
        sessionId: 'a',
        turnId: 'b',
        toolName: 'a',
        success: true,
        from: NOON + 2,
        to: NOON + 40,
      };
      const ids = expected(
        ({ sessionId, turnId, fields, at }) =>
          sessionId === 'a' && turnId === 'b' && fields.toolName === 'a' && at >= NOON + 2 && at <= NOON + 40,
      );
      expect(ids.length).toBeGreaterThan(0);
      expect(await found(filter)).toEqual(ids);
      expect(await found({ ...filter, path: 'a' })).toEqual([]);
    });

    it('find nothing for a value without events, nor in another workspace', async () => {
      const { stores } = opened();
      expect(await found({ turnId: 'c' })).toEqual([]);
      expect(await findIn(stores, await givenWorkspace(stores), { turnId: 'a' }, 0, 10)).toEqual([]);
    });
  });

  it('returns the events of a stored call, of its workspace only', async () => {
    const { stores } = opened();
    const [workspaceId, other] = [await givenWorkspace(stores), await givenWorkspace(stores)];
    const turn = aTurn(workspaceId, { calls: [aCall(), aCall()] });
    const [first, second] = turn.calls as [Call, Call];
    const { turnId } = turn;
    const events = [first, second, first].map(({ callId }) => anEvent({ turnId, callId }));
    await insertTurn(stores, turn, { events });
    await stores.turns.record(workspaceId, [anEvent({ turnId })]);
    const seqs = async (of: string, filter: AuditFilter) =>
      (await findIn(stores, of, filter, 0, 10)).map(({ seq }) => seq);
    expect(await seqs(workspaceId, { callId: first.callId })).toEqual([1, 3]);
    expect(await seqs(workspaceId, { callId: second.callId, turnId })).toEqual([2]);
    expect(await seqs(workspaceId, { callId: second.callId, turnId: 'another' })).toEqual([]);
    await stores.turns.record(other, [anEvent({ turnId })]);
    expect(await seqs(other, { callId: first.callId })).toEqual([]);
    await stores.turns.record(other, [anEvent(), anEvent({ callId: 'alone' }), anEvent({ callId: 'c' })]);
    expect(await seqs(other, { callId: 'alone' })).toEqual([3]);
    expect(await seqs(other, { callId: 'alone', event: 'another' })).toEqual([]);
    expect(await seqs(workspaceId, { callId: 'alone' })).toEqual([]);
  });

  it('returns the latest successes of a session, newest first', async () => {
    const { stores } = opened();
    const workspaceId = await givenWorkspace(stores);
    await stores.turns.record(
      workspaceId,
      upTo(12).map((n) =>
        anEvent({
          sessionId: n % 2 === 0 ? 'even' : 'odd',
          fields: n % 3 === 0 ? { success: false } : n === 8 ? {} : { success: true, path: `${n}` },
        }),
      ),
    );
    const latest = async (sessionId: string, limit: number, of = workspaceId) =>
      (await stores.audit.latestSuccesses(of, sessionId, limit)).map(({ seq, fields }) => [seq, fields.path]);
    expect(await latest('even', 10)).toEqual([
      [10, '10'],
      [4, '4'],
      [2, '2'],
    ]);
    expect(await latest('even', 1)).toEqual([[10, '10']]);
    expect(await latest('other', 10)).toEqual([]);
    expect(await latest('even', 10, await givenWorkspace(stores))).toEqual([]);
    expect(await latest('even', 10, 'no-such-workspace')).toEqual([]);
  });

  it('includes acknowledged events among the latest successes', async () => {
    const { stores } = opened();
    const turn = aTurn(await givenWorkspace(stores));
    const done = anEvent({ sessionId: turn.sessionId, fields: { success: true } });
    await insertTurn(stores, turn, { events: [done] });
    const latest = await stores.audit.latestSuccesses(turn.workspaceId, turn.sessionId, 9);
    expect(latest.map(({ eventId }) => eventId)).toEqual([done.eventId]);
  });

  /** Also on both sides of where a search of the embedded store takes breath, and where it ends. */
  const NEEDLES = [4_000, 4_001, 9_000, 18_000, 27_000, 36_000, 40_000, 40_001, 45_000];

  it('finds few events among many, far from where the search begins and from one another', async () => {
    const { stores } = opened();
    const workspaceId = await givenWorkspace(stores);
    await stores.turns.record(
      workspaceId,
      upTo(45_000).map((n) =>
        anEvent({ sessionId: 's', fields: { path: NEEDLES.includes(n) ? 'needle' : 'hay' } }),
      ),
    );
    /** What a search finds that goes on where the one before has ended, and how many searches that took. */
    const search = async (filter: AuditFilter, limit: number) => {
      const found: number[] = [];
      let searches = 0;
      for (let after: number | null = 0; after !== null; searches += 1) {
        const { events, nextAfter } = await stores.audit.page(workspaceId, filter, after, limit);
        expect(events.length).toBeLessThanOrEqual(limit);
        found.push(...events.map(({ seq }) => seq));
        after = nextAfter;
      }
      return { found, searches };
    };
    const all = NEEDLES;
    expect((await search({ path: 'needle' }, 100)).found).toEqual(all);
    expect((await search({ path: 'needle' }, 2)).found).toEqual(all);
    const inSession = await search({ path: 'needle', sessionId: 's' }, 100);
    expect(inSession.found).toEqual(all);
    // One that finds nothing does not go through all of it at once.
    expect((await search({ path: 'nowhere' }, 100)).searches).toBeGreaterThan(1);
    expect((await search({ path: 'nowhere', sessionId: 's' }, 100)).searches).toBeGreaterThan(1);
    // Of a call that nobody knows there is nothing to go through.
    expect(await search({ callId: 'unknown', sessionId: 's' }, 100)).toEqual({ found: [], searches: 1 });
  }, 120_000);
});
