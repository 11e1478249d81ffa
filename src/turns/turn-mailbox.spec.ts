import { jest } from '@jest/globals';
import { aCall, aTurn, NOON } from './turn.sample.js';
import type { AuditDraft } from '../storage/ports/audit.store.js';
import type { CallResult, TurnStore } from '../storage/ports/turns.store.js';
import type { Turn } from '../storage/ports/turn.js';
import type { Report, TurnInput } from './turn-input.js';
import { TurnMailbox } from './turn-mailbox.js';

interface Write {
  turn: Turn | null;
  expectedVersion: number | null;
  results: readonly CallResult[];
  events: readonly AuditDraft[];
}

/** Keeps one turn; writes end when the test says so, and fail or lose the race where it wants them to. */
class FakeStore {
  readonly writes: Write[] = [];
  private pending: (() => void)[] = [];
  held = false;
  fault: Error | null = null;

  constructor(public stored: Turn) {}

  async save(
    { version: expectedVersion }: Turn,
    turn: Turn,
    results: readonly CallResult[],
    events: readonly AuditDraft[],
  ): Promise<boolean> {
    await this.turnToWrite();
    if (this.stored.version !== expectedVersion) return false;
    this.stored = turn;
    this.writes.push({ turn, expectedVersion, results, events });
    return true;
  }

  async record(_workspaceId: string, events: readonly AuditDraft[]): Promise<void> {
    await this.turnToWrite();
    this.writes.push({ turn: null, expectedVersion: null, results: [], events });
  }

  find(): Promise<Turn | null> {
    return Promise.resolve(this.stored);
  }

  versionOf(): Promise<number | null> {
    return Promise.resolve(this.stored.version);
  }

  letGo(): void {
    this.held = false;
    this.pending.splice(0).forEach((go) => go());
  }

  private async turnToWrite(): Promise<void> {
    if (this.held) await new Promise<void>((go) => this.pending.push(go));
    if (this.fault) throw this.fault;
  }
}

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

describe('the mailbox of a turn', () => {
  let store: FakeStore;
  let commits: { before: Turn; after: Turn; own: boolean }[];
  let mailbox: TurnMailbox;
  let now: number;
  beforeEach(() => {
    now = NOON;
    const calls = CALLS.map((callId) =>
      aCall({
        callId,
        toolCallId: callId,
        status: 'acknowledged',
        attempt: 1,
        clientId: 'editor',
        approvalAt: NOON + 1,
      }),
    );
    store = new FakeStore(aTurn('w', { calls }));
    commits = [];
    mailbox = new TurnMailbox(
      store.stored,
      store as unknown as TurnStore,
      () => now,
      'node',
      (before, after, events) => commits.push({ before, after, own: events !== null }),
    );
  });

  it('takes inputs of one moment with one write', async () => {
    const answers = await Promise.all(CALLS.map((callId) => mailbox.submit(report(callId))));
    expect(answers).toEqual(CALLS.map(() => ({ ok: true })));
    expect(store.writes).toHaveLength(1);
    expect(store.writes[0]).toMatchObject({ expectedVersion: 1, turn: { version: 2, status: 'completed' } });
    expect(store.writes[0]!.results).toHaveLength(8);
    expect(store.writes[0]!.events.map(({ callId }) => callId)).toEqual(CALLS);
    expect(commits).toHaveLength(1);
  });

  it('writes many events in several writes, each answered, and none lost', async () => {
    const late = (n: number): TurnInput => ({ type: 'resume', clientId: `other-${n}`, entries: LATE });
    const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => mailbox.submit(late(n))));
    expect(answers).toHaveLength(200);
    expect(answers.every(({ ok }) => ok)).toBe(true);
    const sizes = store.writes.map(({ events }) => events.length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(200 * LATE.length);
    expect(Math.max(...sizes)).toBeLessThan(500 + LATE.length);
  });

  it('folds what arrives during a write into the next one', async () => {
    store.held = true;
    const first = mailbox.submit(running('c0'));
    await Promise.resolve();
    const others = CALLS.map((callId) => mailbox.submit(report(callId)));
    expect(mailbox.idle).toBe(false);
    store.letGo();
    await Promise.all([first, ...others]);
    expect(store.writes.map(({ turn }) => turn!.version)).toEqual([2, 3]);
    expect(commits.map(({ before, after }) => [before.version, after.version])).toEqual([
      [1, 2],
      [2, 3],
    ]);
    expect(mailbox.idle).toBe(true);
  });

  it('begins no write before the one before it has ended, also where two inputs came in one moment', async () => {
    const save = jest.spyOn(store, 'save');
    const arrived = () => new Promise((resolve) => setImmediate(resolve));
    store.held = true;
    const submitted = [mailbox.submit(running('c0')), mailbox.submit(running('c1'))];
    await arrived();
    for (const [writes, callId] of ['c2', 'c3'].entries()) {
      submitted.push(mailbox.submit(running(callId)));
      await arrived();
      expect(save).toHaveBeenCalledTimes(writes + 1);
      store.letGo();
      store.held = true;
      await arrived();
    }
    store.letGo();
    expect(await Promise.all(submitted)).toEqual(submitted.map(() => ({ ok: true })));
    expect(store.writes.map(({ expectedVersion }) => expectedVersion)).toEqual([1, 2, 3]);
    expect(save).toHaveBeenCalledTimes(3);
  });

  it('answers nobody, and shows nothing, before the write has ended', async () => {
    store.held = true;
    let answered = false;
    const submitted = mailbox.submit(report('c0')).then(() => (answered = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect([answered, commits.length, mailbox.turn.version]).toEqual([false, 0, 1]);
    store.letGo();
    await submitted;
    expect([commits.length, mailbox.turn.version]).toEqual([1, 2]);
  });

  it('lets a step that may wait travel with the result that follows', async () => {
    const step = mailbox.submit(running('c0'), true);
    await new Promise((resolve) => setImmediate(resolve));
    const result = mailbox.submit(report('c0'));
    expect(await Promise.all([step, result])).toEqual([{ ok: true }, { ok: true }]);
    expect(store.writes).toHaveLength(1);
    expect(store.writes[0]!.events.map(({ name }) => name)).toEqual([
      'Tool.CreateFile.Running',
      'Tool.CreateFile.ResultReceived',
    ]);
  });

  it('records a step at the time when it came, however long it waits to be written', async () => {
    const step = mailbox.submit(running('c0'), true);
    now += 10;
    await Promise.all([step, mailbox.submit(report('c0'))]);
    expect(store.writes).toHaveLength(1);
    expect(store.writes[0]!.events.map(({ at }) => at)).toEqual([NOON, NOON + 10]);
    const [call] = store.writes[0]!.turn!.calls;
    expect(call).toMatchObject({ executionAt: NOON + 120_000, endedAt: NOON + 10 });
  });

  it('does not let such a step wait for ever', async () => {
    expect(await mailbox.submit(running('c0'), true)).toEqual({ ok: true });
    expect(store.writes).toHaveLength(1);
  });

  it('reloads and applies again where another node was faster', async () => {
    const theirs = store.stored.calls.map((call) =>
      call.callId === 'c0' ? { ...call, status: 'cancelled' as const, endedAt: NOON } : call,
    );
    store.stored = { ...store.stored, version: 5, calls: theirs };
    const answers = await Promise.all([mailbox.submit(report('c0')), mailbox.submit(report('c1'))]);
    expect(answers).toMatchObject([{ ok: false, code: 'LATE_RESULT' }, { ok: true }]);
    expect(store.writes).toMatchObject([{ expectedVersion: 5, turn: { version: 6 } }]);
    expect(store.writes[0]!.events.map(({ name }) => name.split('.')[2])).toEqual([
      'LateResult',
      'ResultReceived',
    ]);
    expect(commits).toMatchObject([
      { before: { version: 1 }, after: { version: 5 }, own: false },
      { before: { version: 5 }, after: { version: 6 }, own: true },
    ]);
  });

  it('tells of a state that another node committed, once, and of none that is older', async () => {
    const theirs = { ...store.stored, version: 3 };
    store.stored = theirs;
    await Promise.all([mailbox.refresh(), mailbox.refresh()]);
    mailbox.observe({ ...theirs, version: 2 });
    mailbox.observe(theirs);
    expect(commits).toMatchObject([{ before: { version: 1 }, after: { version: 3 }, own: false }]);
    expect(mailbox.turn).toBe(theirs);
  });

  it('does not take what is read of its own write for another node’s', async () => {
    store.held = true;
    const written = mailbox.submit(report('c0'));
    await Promise.resolve();
    mailbox.observe({ ...store.stored, version: 2 });
    expect(commits).toEqual([]);
    store.letGo();
    await written;
    expect(commits).toMatchObject([{ before: { version: 1 }, after: { version: 2 }, own: true }]);
  });

  it('takes what was read during a write after it, where it is newer', async () => {
    store.held = true;
    const written = mailbox.submit(report('c0'));
    await Promise.resolve();
    mailbox.observe({ ...store.stored, version: 7 });
    store.letGo();
    await written;
    expect(commits.map(({ after, own }) => [after.version, own])).toEqual([
      [2, true],
      [7, false],
    ]);
  });

  it('says so where the turn is gone', async () => {
    jest.spyOn(store, 'versionOf').mockResolvedValue(null);
    jest.spyOn(store, 'find').mockResolvedValue(null);
    await expect(mailbox.refresh()).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('gives up on a turn that never stands still', async () => {
    const save = jest.spyOn(store, 'save').mockResolvedValue(false);
    await expect(mailbox.submit(report('c0'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(save.mock.calls.length).toBeGreaterThan(5);
    expect(commits).toEqual([]);
  });

  it('records what changes nothing without a new version, and writes nothing for what is not worth a record', async () => {
    await mailbox.submit(report('c0'));
    await mailbox.submit(report('c0'));
    expect(store.writes[1]).toMatchObject({
      turn: null,
      events: [{ name: 'Tool.CreateFile.DuplicateResult' }],
    });
    expect(mailbox.turn.version).toBe(2);
    await mailbox.submit({ type: 'tick' });
    expect(store.writes).toHaveLength(2);
  });

  it('tells everyone in a batch of a fault, and goes on with the next', async () => {
    store.fault = new Error('disk full');
    const failed = await Promise.allSettled([mailbox.submit(report('c0')), mailbox.submit(report('c1'))]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(mailbox.turn.version).toBe(1);
    store.fault = null;
    expect(await mailbox.submit(report('c0'))).toEqual({ ok: true });
  });
});
