import 'reflect-metadata';
import { newId } from '../../src/common/ids.js';
import { outboxWith } from '../../src/storage/mongo/outbox.js';
import { testFixture } from '../support/fixtures.js';
import { hold, type Hold } from '../support/hold.js';
import { describeOnMongo } from '../support/mongo-server.js';
import { randomFrom } from './faults.js';
import { anEvent, upTo } from './records.js';
import { insertWith, TrailNodes } from './trail-nodes.js';

describeOnMongo('the projector of the trail', () => {
  const servers = testFixture(() => TrailNodes.open());

  it('keeps causes before effects that were made while it looked', async () => {
    const workspaceId = newId();
    const [cause, effect] = [anEvent(), anEvent()];
    let isFirst = true;
    const { sources, projector } = await servers.another(({ outboxes }) => {
      const look = outboxes.look.bind(outboxes);
      outboxes.look = async (id) => {
        const found = await look(id);
        if (!isFirst) return found;
        isFirst = false;
        // It has looked through the one source before the cause came, and through the other after the effect.
        cause.eventId = newId();
        effect.eventId = newId();
        await insertWith(sources[0]!, id, [cause]);
        const _id = await insertWith(sources[1]!, id, [effect]);
        const [entry] = outboxWith(id, [effect]).outbox;
        const late = { source: sources[1]!, _id, workspaceId: id, outboxWrites: 1, entries: [entry!] };
        return { ...found, outboxes: [...found.outboxes, late] };
      };
    });
    await projector.append(workspaceId, [anEvent({ name: 'last' })]);
    const ids = await servers.idsOf(workspaceId);
    expect(ids.slice(0, 2)).toEqual([cause.eventId, effect.eventId]);
  });

  it('takes no young event of an old aggregate before older ones of those that a look has no room for', async () => {
    const workspaceId = newId();
    const events = upTo(300).map(() => anEvent());
    const { sources, projector } = servers.nodes[0]!;
    await insertWith(sources[0]!, workspaceId, [events[0]!, events.at(-1)!]);
    await Promise.all(events.slice(1, -1).map((event) => insertWith(sources[0]!, workspaceId, [event])));
    await projector.drain(workspaceId);
    expect(await servers.idsOf(workspaceId)).toEqual(events.map(({ eventId }) => eventId));
  });

  it('has what comes while it appends wait for the next time, after this one', async () => {
    let held!: Hold;
    let looks = 0;
    const { projector } = await servers.another(({ trail, outboxes }) => {
      held = hold(trail, 'append');
      const look = outboxes.look.bind(outboxes);
      outboxes.look = (id) => {
        looks += 1;
        return look(id);
      };
    });
    const workspaceId = newId();
    const [first, second] = [anEvent(), anEvent()];
    const appended = [projector.append(workspaceId, [first])];
    await held.reached;
    appended.push(projector.append(workspaceId, [second]));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(looks).toBe(1);
    held.release();
    await Promise.all(appended);
    expect(await servers.idsOf(workspaceId)).toEqual([first.eventId, second.eventId]);
  });

  it('goes on after more workspaces than it looks at at once', async () => {
    const { projector } = servers.nodes[0]!;
    for (const workspaceId of [...upTo(20), ...upTo(20)].map((n) => `workspace ${n}`))
      await projector.append(workspaceId, [anEvent()]);
    expect(await servers.trailOf('workspace 20')).toHaveLength(2);
  });

  it('appends what is new of what comes with events that are there', async () => {
    const other = await servers.another();
    const workspaceId = newId();
    const [one, two, three] = [anEvent(), anEvent(), anEvent()];
    await servers.nodes[0]!.projector.append(workspaceId, [one, two]);
    await other.projector.append(workspaceId, [two, three, three]);
    const ids = [one, two, three].map(({ eventId }) => eventId);
    expect(await servers.idsOf(workspaceId)).toEqual(ids);
  });

  it('appends events of no aggregate once, behind what waits', async () => {
    await servers.another();
    const workspaceId = newId();
    const [waiting, late] = [anEvent(), anEvent()];
    await insertWith(servers.nodes[0]!.sources[0]!, workspaceId, [waiting]);
    await Promise.all(
      servers.nodes.flatMap(({ projector }) => [1, 2].map(() => projector.append(workspaceId, [late]))),
    );
    await servers.nodes[1]!.projector.append(workspaceId, [late, waiting]);
    expect(await servers.idsOf(workspaceId)).toEqual([waiting.eventId, late.eventId]);
    const odd = anEvent({ sessionId: 'NUL \0' });
    await expect(servers.nodes[0]!.projector.append(workspaceId, [odd])).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    });
  });

  it('takes in more than one look can, the oldest first', async () => {
    const workspaceId = newId();
    const events = upTo(450).map(() => anEvent());
    const random = randomFrom(1);
    const mixed = events.map((event) => ({ event, at: random() })).sort((a, b) => a.at - b.at);
    const { sources, projector } = servers.nodes[0]!;
    await Promise.all(mixed.map(({ event }, at) => insertWith(sources[at % 2]!, workspaceId, [event])));
    await projector.append(workspaceId, [anEvent({ name: 'last' })]);
    const trail = await servers.trailOf(workspaceId);
    expect(trail.slice(0, -1).map(({ _id }) => _id)).toEqual(events.map(({ eventId }) => eventId));
    expect(trail.at(-1)!.name).toBe('last');
  });

  it('has who waits for it wait for what was acknowledged before, not for what comes all the time', async () => {
    let looks = 0;
    let more: () => Promise<unknown> = () => Promise.resolve();
    const { sources, projector } = await servers.another(({ outboxes }) => {
      const look = outboxes.look.bind(outboxes);
      outboxes.look = async (workspaceId) => {
        looks += 1;
        // More than one look takes in, each time; after many it ends, so that the test does.
        if (looks < 20) await more();
        return look(workspaceId);
      };
    });
    const workspaceId = newId();
    const fill = async (): Promise<string[]> => {
      const events = upTo(250).map(() => anEvent());
      const things = events.map((event) => ({ _id: newId(), ...outboxWith(workspaceId, [event]) }));
      await sources[0]!.insertMany(things);
      return events.map(({ eventId }) => eventId);
    };
    const before = await fill();
    more = fill;
    await projector.append(workspaceId, [anEvent({ name: 'last' })]);
    expect(looks).toBeLessThan(10);
    const trail = await servers.trailOf(workspaceId);
    expect(trail.map(({ _id }) => _id)).toEqual(expect.arrayContaining(before));
    expect(trail.some(({ name }) => name === 'last')).toBe(true);
    more = () => Promise.resolve();
    await projector.drain(workspaceId);
    expect(await servers.waitingOf(workspaceId)).toEqual([]);
  });

  it.each(['a drain', 'an append'])('that stops brings %s under way to its end first', async (what) => {
    const workspaceId = newId();
    let held!: Hold;
    const { sources, projector } = await servers.another(({ trail }) => {
      held = hold(trail, 'append');
    });
    await insertWith(sources[0]!, workspaceId, [anEvent()]);
    const work =
      what === 'a drain' ? projector.drain(workspaceId) : projector.append(workspaceId, [anEvent()]);
    await held.reached;
    let stopped = false;
    const stopping = projector.beforeApplicationShutdown().then(() => (stopped = true));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(stopped).toBe(false);
    held.release();
    await stopping;
    expect(await servers.waitingOf(workspaceId)).toEqual([]);
    await work;
  });

  it('goes on where a node has died between the trail and the outbox, and finds what nobody projects', async () => {
    const dead = await servers.another(({ outboxes }) => {
      outboxes.remove = () => Promise.reject(new Error('killed'));
    });
    const workspaces = upTo(3).map(() => newId());
    for (const workspaceId of workspaces) {
      await insertWith(dead.sources[1]!, workspaceId, [anEvent(), anEvent()]);
      await expect(dead.projector.drain(workspaceId)).rejects.toThrow('killed');
      expect(await servers.waitingOf(workspaceId)).toHaveLength(1);
    }
    servers.nodes[0]!.projector.onApplicationBootstrap();
    for (const workspaceId of workspaces) {
      while ((await servers.waitingOf(workspaceId)).length > 0) await new Promise(setImmediate);
      expect((await servers.trailOf(workspaceId)).map(({ seq }) => seq)).toEqual([1, 2]);
    }
  });
});
