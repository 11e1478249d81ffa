import { testFixture } from '../support/fixtures.js';
import { settled, TurnNode } from '../support/turn-node.js';
import { leave, trailOf } from '../contract/records.js';
import type { Turn } from '../../src/storage/ports/turn.js';
import type { Report, TurnInput } from '../../src/turns/state/turn-input.js';
import { TurnMailbox } from '../../src/turns/engine/turn-mailbox.js';
import { aCall, NOON } from '../../src/turns/state/turn.sample.js';

const CALLS = Array.from({ length: 8 }, (_, at) => `c${at}`);
const report = (callId: string, digest = 'd'): TurnInput => ({
  type: 'report',
  callId,
  clientId: 'editor',
  report: {
    status: 'succeeded',
    result: 1,
    error: null,
    bytes: 1,
    executionMs: 1,
    digest,
    summary: {},
  } satisfies Report,
});
/** What a client says at its return that never held these calls: each is recorded as late. */
const LATE = CALLS.map((callId) => ({ callId, state: (report(callId) as { report: Report }).report }));
const running = (callId: string): TurnInput => ({
  type: 'progress',
  callId,
  clientId: 'editor',
  status: 'running',
  note: null,
});

/** The names of events, without tool and prefix. */
const steps = (events: readonly { name: string }[]): string[] =>
  events.map(({ name }) => name.split('.')[2]!);

describe('the mailbox of a turn', () => {
  const node = testFixture(() => TurnNode.open());
  let turn: Turn;
  let commits: { before: number; after: number; own: boolean }[];
  let mailbox: TurnMailbox;
  beforeEach(async () => {
    const held = { status: 'acknowledged', attempt: 1, clientId: 'editor', approvalAt: NOON + 1 } as const;
    turn = await node.given({ calls: CALLS.map((callId) => aCall({ callId, toolCallId: callId, ...held })) });
    commits = [];
    mailbox = new TurnMailbox(
      turn,
      node.store,
      () => node.now,
      'node',
      (before, after, events) =>
        commits.push({ before: before.version, after: after.version, own: events !== null }),
    );
  });

  const stored = async (): Promise<Turn> => (await node.backend.stores.turns.find(turn))!;
  const trail = async (): Promise<string[]> => steps(await trailOf(node.backend.stores, node.workspaceId));

  it('of a removed member refuses what is theirs, and takes the cancel that came with it [MEMBER-2]', async () => {
    await leave(node.backend.stores, turn);
    const theirs = mailbox.submit(report('c0'));
    const cancel = mailbox.submit({ type: 'cancel', toolCallId: null, byUserId: 'ada' });
    await expect(theirs).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(await cancel).toMatchObject({ ok: true });
    expect((await stored()).calls.map(({ status }) => status)).toEqual(CALLS.map(() => 'cancelled'));
  });

  it('commits inputs of one moment with one write', async () => {
    const answers = await Promise.all(CALLS.map((callId) => mailbox.submit(report(callId))));
    expect(answers).toEqual(CALLS.map(() => ({ ok: true })));
    expect(node.saves).toHaveLength(1);
    expect(await stored()).toMatchObject({ version: 2, status: 'completed' });
    // The last one says that the turn has ended.
    expect(node.saves[0]![3].map(({ callId }) => callId)).toEqual([...CALLS, null]);
    expect(commits).toHaveLength(1);
  });

  it('splits many events into several writes and loses none', async () => {
    const late = (n: number): TurnInput => ({ type: 'resume', clientId: `other-${n}`, entries: LATE });
    const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => mailbox.submit(late(n))));
    expect(answers.every(({ ok }) => ok)).toBe(true);
    expect(await trail()).toHaveLength(200 * LATE.length);
    const records = node.calls.filter(({ method }) => method === 'record');
    const sizes = records.map(({ parameters }) => (parameters[1] as unknown[]).length);
    expect(Math.max(...sizes)).toBeLessThan(500 + LATE.length);
  });

  it('folds what arrives during a write into the next one, and never overlaps writes', async () => {
    node.hold('save');
    const submitted = [mailbox.submit(running('c0')), mailbox.submit(running('c1'))];
    await settled();
    submitted.push(...CALLS.map((callId) => mailbox.submit(report(callId))));
    await settled();
    expect([mailbox.idle, node.saves.length, commits]).toEqual([false, 1, []]);
    await node.release('save');
    await Promise.all(submitted);
    expect(commits.map(({ before, after }) => [before, after])).toEqual([
      [1, 2],
      [2, 3],
    ]);
    expect([mailbox.idle, node.saves.length]).toEqual([true, 2]);
  });

  it('answers nobody, and shows nothing, before the write has ended', async () => {
    node.hold('save');
    let answered = false;
    const submitted = mailbox.submit(report('c0')).then(() => (answered = true));
    await settled();
    expect([answered, commits.length, mailbox.turn.version]).toEqual([false, 0, 1]);
    await node.release('save');
    await submitted;
    expect([commits.length, mailbox.turn.version]).toEqual([1, 2]);
  });

  it('writes a lazy input with the result that follows, each at the time when it came', async () => {
    const step = mailbox.submit(running('c0'), true);
    await new Promise((resolve) => setImmediate(resolve));
    node.now += 10;
    const result = mailbox.submit(report('c0'));
    expect(await Promise.all([step, result])).toEqual([{ ok: true }, { ok: true }]);
    expect(node.saves).toHaveLength(1);
    const [, , , events] = node.saves[0]!;
    expect(steps(events)).toEqual(['Running', 'ResultReceived']);
    expect(events.map(({ at }) => at)).toEqual([NOON, NOON + 10]);
    expect((await stored()).calls[0]).toMatchObject({ executionAt: NOON + 120_000, endedAt: NOON + 10 });
  });

  it('writes a lazy input alone when nothing follows', async () => {
    expect(await mailbox.submit(running('c0'), true)).toEqual({ ok: true });
    expect(node.saves).toHaveLength(1);
  });

  it('reloads and applies the inputs again when another node was faster', async () => {
    await node.elsewhere(turn, { type: 'cancel', toolCallId: 'c0', byUserId: 'u' });
    const answers = await Promise.all([mailbox.submit(report('c0')), mailbox.submit(report('c1'))]);
    expect(answers).toMatchObject([{ ok: false, code: 'LATE_RESULT' }, { ok: true }]);
    expect(await trail()).toEqual(['LateResult', 'ResultReceived']);
    expect((await stored()).version).toBe(3);
    expect(commits).toEqual([
      { before: 1, after: 2, own: false },
      { before: 2, after: 3, own: true },
    ]);
  });

  it('announces a state of another node once, and no older one', async () => {
    const theirs = await node.overwrite(await node.elsewhere(turn, running('c0')), {});
    await Promise.all([mailbox.refresh(), mailbox.refresh()]);
    mailbox.observe({ ...theirs, version: 2 });
    mailbox.observe(theirs);
    expect(commits).toEqual([{ before: 1, after: 3, own: false }]);
  });

  it.each([
    [2, [[2, true]]],
    [
      7,
      [
        [2, true],
        [7, false],
      ],
    ],
  ])(
    'announces version %s, read during its write of version 2, only if it is newer',
    async (version, seen) => {
      node.hold('save');
      const written = mailbox.submit(report('c0'));
      await settled();
      mailbox.observe({ ...turn, version });
      expect(commits).toEqual([]);
      await node.release('save');
      await written;
      expect(commits.map(({ after, own }) => [after, own])).toEqual(seen);
    },
  );

  it('rejects with NOT_FOUND when the turn is gone', async () => {
    const gone = new TurnMailbox(
      { ...turn, turnId: 'gone' },
      node.store,
      () => NOON,
      'node',
      () => {},
    );
    await expect(gone.refresh()).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('gives up on a turn that another node changes at every try', async () => {
    const { store } = node;
    const save: typeof store.save = async (...parameters) => {
      await node.overwrite(await stored(), {});
      return store.save(...parameters);
    };
    const busy = new Proxy(store, {
      get: (target, name) => (name === 'save' ? save : (Reflect.get(target, name) as unknown)),
    });
    const chased = new TurnMailbox(
      turn,
      busy,
      () => NOON,
      'node',
      () => {},
    );
    await expect(chased.submit(report('c0'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(node.saves.length).toBeGreaterThan(5);
    expect(await trail()).toEqual([]);
  });

  it('records what changes nothing without a new version, and writes nothing for a tick', async () => {
    await mailbox.submit(report('c0'));
    await mailbox.submit(report('c0'));
    expect(await trail()).toEqual(['ResultReceived', 'DuplicateResult']);
    expect((await stored()).version).toBe(2);
    await mailbox.submit({ type: 'tick' });
    expect([node.count('save'), node.count('record')]).toEqual([1, 1]);
  });

  it('rejects every input of a failed write, and goes on with the next', async () => {
    node.fail('save', new Error('disk full'));
    const failed = await Promise.allSettled([mailbox.submit(report('c0')), mailbox.submit(report('c1'))]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(mailbox.turn.version).toBe(1);
    node.fail('save', null);
    expect(await mailbox.submit(report('c0'))).toEqual({ ok: true });
  });
});
