import type { AuditEvent } from '@patchbay/protocol';
import { NEVER } from 'rxjs';
import { Config } from '../../src/config/config.js';
import type { Bus } from '../../src/events/bus.js';
import { ChangeFeed } from '../../src/events/change-feed.js';
import { InProcessBus } from '../../src/events/in-process-bus.js';
import type { AuditStore } from '../../src/storage/ports/audit.store.js';
import { NodeId } from '../../src/storage/ports/node-id.js';
import { aTurn } from '../../src/turns/state/turn.sample.js';
import { quietLogger } from '../support/turn-node.js';
import { waitFor } from '../support/wait-for.js';
import { describeContract } from './backends.js';
import { withOtherMethods } from './other-methods.js';
import { anEvent, givenWorkspace, insertTurn, trailOf, upTo } from './records.js';

/** A feed as a node has it, and how often its store has answered. */
interface Node {
  feed: ChangeFeed;
  /** `pages`: of which workspaces it gave pages. */
  answers: { pages: string[]; grownSince: number };
}

describeContract('the change feed', (opened) => {
  const started: ChangeFeed[] = [];
  const reading: Promise<void>[] = [];
  let ended: AbortController;
  let workspaceId: string;

  beforeEach(async () => {
    ended = new AbortController();
    workspaceId = await givenWorkspace(opened().stores);
  });
  afterEach(async () => {
    ended.abort();
    await Promise.all(reading.splice(0));
    started.splice(0).forEach((feed) => feed.onModuleDestroy());
  });

  /** `isElsewhere`: it hears of no commit by itself, as they are those of another process. */
  function node(bus: Bus = new InProcessBus(), { isElsewhere = false, catchUpMs = 3_600_000 } = {}): Node {
    const { stores, growth } = opened();
    const { audit } = stores;
    const answers: Node['answers'] = { pages: [], grownSince: 0 };
    const counting: AuditStore = withOtherMethods(audit, {
      page: async (...search: Parameters<AuditStore['page']>) => {
        const found = await audit.page(...search);
        answers.pages.push(search[0]);
        return found;
      },
      grownSince: (seqs) => ((answers.grownSince += 1), audit.grownSince(seqs)),
    });
    const id = new NodeId(`node-${started.length}`);
    const heard = isElsewhere ? { workspaces$: NEVER } : growth;
    const config = Config.with({ catchUpMs });
    const feed = new ChangeFeed(counting, bus, id, heard, config, quietLogger);
    void feed.onApplicationBootstrap();
    started.push(feed);
    return { feed, answers };
  }

  const record = (count = 1, id = workspaceId): Promise<void> =>
    opened().stores.turns.record(
      id,
      upTo(count).map(() => anEvent()),
    );

  /** Reads along until the signal ends it; `seqs` is what came so far, page by page. */
  function follow({ feed }: Node, after = 0, { id = workspaceId, limit = 500, signal = ended.signal } = {}) {
    const pages: AuditEvent[][] = [];
    const over = (async () => {
      for await (const page of feed.changes(id, after, signal, limit)) pages.push(page);
    })();
    reading.push(over);
    return { pages, over, seqs: () => pages.flat().map(({ seq }) => seq) };
  }

  it('gives the events after any number in their order, in bounded pages', async () => {
    const { feed } = node();
    await record(7);
    const after = async (seq: number, limit?: number) =>
      (await feed.after(workspaceId, seq, limit)).map((event) => event.seq);
    expect(await after(0)).toEqual(upTo(7));
    expect(await after(2, 3)).toEqual([3, 4, 5]);
    expect(await after(6)).toEqual([7]);
    expect(await after(7)).toEqual([]);
    expect(await after(70)).toEqual([]);
    expect(await feed.after(workspaceId, 3)).toEqual((await trailOf(opened().stores, workspaceId)).slice(3));
    await record(600);
    expect(await after(0, 1_000_000)).toEqual(upTo(500));
  });

  it('has what was acknowledged just now, whoever wrote it', async () => {
    const { feed } = node();
    const turn = aTurn(workspaceId);
    const [first, second] = [anEvent(), anEvent()];
    await insertTurn(opened().stores, turn, { events: [first] });
    expect((await feed.after(workspaceId, 0)).map(({ eventId }) => eventId)).toEqual([first.eventId]);
    await opened().stores.turns.save(turn, { ...turn, version: 2 }, [], [second]);
    expect((await feed.after(workspaceId, 1)).map(({ eventId }) => eventId)).toEqual([second.eventId]);
  });

  it('has no gap and no repeat for a reader that follows while many write, wherever it begins', async () => {
    const here = node();
    await record(5);
    const readers = [0, 3, 5].map((after) => ({ after, ...follow(here, after, { limit: 7 }) }));
    const { stores } = opened();
    await Promise.all(
      upTo(40).map((n) => {
        const events = [anEvent(), anEvent()];
        return n % 2 === 0
          ? stores.turns.record(workspaceId, events)
          : insertTurn(stores, aTurn(workspaceId), { events });
      }),
    );
    for (const { after, seqs, pages } of readers) {
      await waitFor(() => seqs().at(-1) === 85, 'the last event');
      expect(seqs()).toEqual(upTo(85).slice(after));
      expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(7);
    }
  });

  it('goes on where a reader has stopped', async () => {
    const here = node();
    await record(3);
    const stopped = new AbortController();
    const first = follow(here, 0, { signal: stopped.signal });
    await waitFor(() => first.seqs().length === 3, 'the first events');
    stopped.abort();
    await first.over;
    await record(2);
    const second = follow(here, first.seqs().at(-1));
    await waitFor(() => second.seqs().length === 2, 'the other events');
    expect([...first.seqs(), ...second.seqs()]).toEqual(upTo(5));
  });

  it('wakes those who wait for the workspace, once it is committed, and nobody else', async () => {
    const here = node();
    const other = await givenWorkspace(opened().stores);
    const [first, second, elsewhere] = [follow(here), follow(here), follow(here, 0, { id: other })];
    await waitFor(() => here.answers.pages.length === 3, 'the first reads');
    await record();
    await waitFor(() => first.seqs().length + second.seqs().length === 2, 'the event');
    expect([first.seqs(), second.seqs(), elsewhere.seqs()]).toEqual([[1], [1], []]);
    expect(here.answers.pages.filter((id) => id === other)).toHaveLength(1);
    await record(1, other);
    await waitFor(() => elsewhere.seqs().length === 1, 'the event elsewhere');
    expect([first.seqs(), second.seqs()]).toEqual([[1], [1]]);
  });

  it('is told by the bus of what another node commits', async () => {
    const bus = new InProcessBus('unlinked');
    const [here, there] = [node(bus), node(bus, { isElsewhere: true })];
    const reader = follow(there);
    await waitFor(() => there.answers.pages.length === 1, 'the first read');
    await record(2);
    await waitFor(() => reader.seqs().length === 2, 'the events');
    expect(here.answers.pages).toEqual([]);
    expect(there.answers.grownSince).toBe(0);
  });

  it('finds what another node commits without a hint, by a question for each hundred of a thousand workspaces', async () => {
    const here = node(new InProcessBus(), { isElsewhere: true, catchUpMs: 50 });
    await record(2);
    const reader = follow(here, 2);
    for (let count = 1; count < 1_000; count += 1) {
      follow(here, 0, { id: `workspace-${count}` });
      if (count % 50 === 0) await waitFor(() => here.answers.pages.length === count + 1, 'the first reads');
    }
    await waitFor(() => here.answers.pages.length === 1_000, 'the last of the first reads');
    const questions = here.answers.grownSince;
    await waitFor(() => here.answers.grownSince >= questions + 20, 'two rounds');
    expect(here.answers.pages.length).toBe(1_000);
    await record();
    await waitFor(() => reader.seqs().length === 1, 'the event');
    expect(reader.seqs()).toEqual([3]);
    // It alone has read again: the page, and whether there is another one.
    expect(here.answers.pages.length).toBeLessThanOrEqual(1_004);
    ended.abort();
    await Promise.all(reading);
    const { grownSince, pages } = here.answers;
    const page = pages.length;
    await record();
    await new Promise((resolve) => setTimeout(resolve, 150));
    // Nobody waits any more; a round that was under way then has had nine questions left, at most.
    expect(here.answers.pages.length).toBe(page);
    expect(here.answers.grownSince).toBeLessThanOrEqual(grownSince + 9);
  }, 60_000);

  it('ends with its signal, also before it has begun, and while it reads', async () => {
    const here = node();
    const [before, during] = [new AbortController(), new AbortController()];
    before.abort();
    await follow(here, 0, { signal: before.signal }).over;
    expect(here.answers.pages).toEqual([]);
    await record();
    const reading = follow(here, 0, { signal: during.signal });
    during.abort();
    await reading.over;
    expect(reading.seqs()).toEqual([]);
  });

  it('goes on after a restart of the server', async () => {
    await record(2);
    await opened().reopen();
    const reader = follow(node(), 1);
    await waitFor(() => reader.seqs().length === 1, 'what was there');
    await record();
    await waitFor(() => reader.seqs().length === 2, 'what came');
    expect(reader.seqs()).toEqual([2, 3]);
  });

  it('ends a reader that waits when its node stops', async () => {
    const { feed } = node();
    const reader = feed.changes(workspaceId, 0, ended.signal).next();
    await new Promise((resolve) => setTimeout(resolve, 50));
    feed.onModuleDestroy();
    expect(await reader).toEqual({ done: true, value: undefined });
  });
});
