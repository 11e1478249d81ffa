import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import mongoose, { type Connection, type Model, mongo } from 'mongoose';
import { newId } from '../../src/common/ids.js';
import type { AuditDraft } from '../../src/storage/ports/audit.store.js';
import { CONNECT_OPTIONS, MongoDatabase } from '../../src/storage/mongo/database.js';
import { OUTBOX_FIELDS, OUTBOX_INDEX, outboxUpdate, outboxWith } from '../../src/storage/mongo/outbox.js';
import { type OutboxDocument, Outboxes } from '../../src/storage/mongo/outboxes.js';
import { Projector } from '../../src/storage/mongo/projector.js';
import { schemaOf } from '../../src/storage/mongo/schemas.js';
import { Trail } from '../../src/storage/mongo/trail.js';
import {
  TURN_COLLECTIONS,
  TURN_TEXTS,
  type TurnDocument,
  TURNS,
  type TurnTextDocument,
} from '../../src/storage/mongo/turn-collections.js';
import { TurnTexts } from '../../src/storage/mongo/turn-texts.js';
import { TRAIL, TRAIL_COLLECTIONS, type TrailDocument } from '../../src/storage/mongo/trail-collections.js';
import { hold, type Hold } from '../support/hold.js';
import { aDatabaseOn, describeOnMongo, MONGO_SERVER } from '../support/mongo-server.js';
import { randomFrom } from './faults.js';
import { anEvent, upTo } from './records.js';

const SOURCES = ['things', 'others'];

/** A server with a projector: its own connection, its own models. */
interface Node {
  connection: Connection;
  sources: Model<OutboxDocument>[];
  events: Model<TrailDocument>;
  projector: Projector;
}

interface Parts {
  database: MongoDatabase;
  trail: Trail;
  outboxes: Outboxes;
}

/** Of every third operation the first reply is lost, after it was done. */
function loseReplies({ database }: Parts): void {
  const attempt = database.attempt.bind(database);
  let count = 0;
  database.attempt = (work) => {
    let isLost = (count += 1) % 3 === 0;
    return attempt(async () => {
      const result = await work();
      if (!isLost) return result;
      isLost = false;
      throw new mongo.MongoNetworkError('the reply is lost');
    });
  };
}

/** Where drafts lie that are apart. */
function turnModels(connection: Connection): [Model<TurnTextDocument>, Model<TurnDocument>] {
  const schemas = new Map(TURN_COLLECTIONS.map(({ name, schema }) => [name, schema]));
  return [
    connection.model<TurnTextDocument>(TURN_TEXTS, schemas.get(TURN_TEXTS), TURN_TEXTS),
    connection.model<TurnDocument>(TURNS, schemas.get(TURNS), TURNS),
  ];
}

describeOnMongo('the projector of the trail', () => {
  let uri: string;
  let drop: () => Promise<void>;
  let nodes: Node[];

  beforeAll(() => {
    Logger.overrideLogger(false);
  });
  beforeEach(async () => {
    ({ uri, drop } = aDatabaseOn(MONGO_SERVER!));
    nodes = [];
    const { sources } = await aNode();
    for (const source of sources) {
      await source.createCollection();
      const { name, key } = OUTBOX_INDEX;
      await source.collection.createIndex(key, { name });
    }
  });
  afterEach(async () => {
    for (const { projector } of nodes) await projector.beforeApplicationShutdown();
    for (const { connection } of nodes) await connection.close();
    await drop();
  });

  /** Another server; `change` makes its trail and its outboxes worse than they are. */
  async function aNode(change: (parts: Parts) => void = () => undefined) {
    const connection = await mongoose.createConnection(uri, CONNECT_OPTIONS).asPromise();
    const database = await MongoDatabase.open(connection);
    const sources = SOURCES.map((name) =>
      connection.model<OutboxDocument>(name, schemaOf(OUTBOX_FIELDS), name),
    );
    const events = connection.model<TrailDocument>(TRAIL, TRAIL_COLLECTIONS[0]!.schema, TRAIL);
    const outboxes = new Outboxes(database, sources, new TurnTexts(database, ...turnModels(connection)));
    const parts = { database, trail: new Trail(database, events), outboxes };
    change(parts);
    const node = { connection, sources, events, projector: new Projector(parts.outboxes, parts.trail) };
    nodes.push(node);
    return node;
  }

  const insert = async (source: Model<OutboxDocument>, workspaceId: string, events: AuditDraft[]) => {
    const _id = newId();
    await new source({ _id, ...outboxWith(workspaceId, events) }).save();
    return _id;
  };
  const update = (source: Model<OutboxDocument>, _id: string, workspaceId: string, events: AuditDraft[]) =>
    source.updateOne({ _id }, outboxUpdate(workspaceId, events));

  const trailOf = (workspaceId: string) =>
    nodes[0]!.events.find({ workspaceId }).sort({ seq: 1 }).lean<TrailDocument[]>();
  const waitingOf = async (workspaceId: string) => {
    const found = await Promise.all(
      nodes[0]!.sources.map((source) => source.find({ pendingIn: workspaceId }).lean()),
    );
    return found.flat();
  };

  /**
   * Several writers, each an aggregate after another, as fast as they can: a step of a writer comes after the one before,
   * which is in another aggregate, was acknowledged.
   */
  async function writeAll(workspaceId: string, writers: number, steps: number): Promise<string[][]> {
    return Promise.all(
      upTo(writers).map(async (writer) => {
        const node = nodes[writer % nodes.length]!;
        const own: { source: Model<OutboxDocument>; _id: string }[] = [];
        const written: string[] = [];
        for (const step of upTo(steps)) {
          const events = upTo(1 + (step % 3)).map(() => anEvent({ sessionId: `${writer}` }));
          const at = own[step % 3];
          const source = node.sources[step % 2]!;
          if (at === undefined) own.push({ source, _id: await insert(source, workspaceId, events) });
          else await update(at.source, at._id, workspaceId, events);
          written.push(...events.map(({ eventId }) => eventId));
          node.projector.wake(workspaceId);
          if (step % 5 === 0) await node.projector.drain(workspaceId);
        }
        return written;
      }),
    );
  }

  async function expectWhole(workspaceId: string, written: string[][]): Promise<void> {
    const trail = await trailOf(workspaceId);
    expect(trail.map(({ seq }) => seq)).toEqual(upTo(written.flat().length));
    expect(trail.map(({ _id }) => _id).sort()).toEqual(written.flat().sort());
    expect(await waitingOf(workspaceId)).toEqual([]);
  }

  it('gives every event its number once, without gaps, whichever node does it and however often', async () => {
    for (let more = 0; more < 3; more += 1) await aNode();
    const workspaceId = newId();
    const written = await writeAll(workspaceId, 12, 15);
    await Promise.all(nodes.map(({ projector }) => projector.drain(workspaceId)));
    await expectWhole(workspaceId, written);
  });

  it('does so where replies are lost after the database has done what it was told', async () => {
    for (let more = 0; more < 3; more += 1) await aNode(loseReplies);
    const workspaceId = newId();
    const written = await writeAll(workspaceId, 8, 10);
    await Promise.all(nodes.map(({ projector }) => projector.drain(workspaceId)));
    await expectWhole(workspaceId, written);
  });

  it('would give a number twice, were it not for the index: these tests would notice', async () => {
    for (let more = 0; more < 3; more += 1) await aNode();
    await nodes[0]!.events.collection.dropIndex('seq');
    for (let isTwice = false; !isTwice;) {
      const workspaceId = newId();
      const written = await writeAll(workspaceId, 12, 15);
      await Promise.all(nodes.map(({ projector }) => projector.drain(workspaceId)));
      isTwice = await expectWhole(workspaceId, written).then(
        () => false,
        () => true,
      );
    }
  });

  it('keeps the order of causes and effects of one process', async () => {
    const workspaceId = newId();
    const written = await writeAll(workspaceId, 12, 15);
    await nodes[0]!.projector.drain(workspaceId);
    await expectWhole(workspaceId, written);
    const trail = await trailOf(workspaceId);
    written.forEach((ids, writer) => {
      const own = trail.filter(({ sessionId }) => sessionId === `${writer + 1}`);
      expect(own.map(({ _id }) => _id)).toEqual(ids);
    });
  });

  it('keeps the order of an aggregate, also where a clock was set back', async () => {
    const workspaceId = newId();
    const [old, middle, young] = [newId(), newId(), newId()];
    const [{ sources, projector }] = nodes as [Node];
    await insert(
      sources[0]!,
      workspaceId,
      [young, old].map((eventId) => anEvent({ eventId })),
    );
    await insert(sources[1]!, workspaceId, [anEvent({ eventId: middle })]);
    await projector.drain(workspaceId);
    expect((await trailOf(workspaceId)).map(({ _id }) => _id)).toEqual([middle, young, old]);
  });

  it('appends events of no aggregate once, behind what waits', async () => {
    await aNode();
    const workspaceId = newId();
    const [waiting, late] = [anEvent(), anEvent()];
    await insert(nodes[0]!.sources[0]!, workspaceId, [waiting]);
    await Promise.all(
      nodes.flatMap(({ projector }) => [1, 2].map(() => projector.append(workspaceId, [late]))),
    );
    await nodes[1]!.projector.append(workspaceId, [late, waiting]);
    expect((await trailOf(workspaceId)).map(({ _id }) => _id)).toEqual([waiting.eventId, late.eventId]);
    const odd = anEvent({ sessionId: 'NUL \0' });
    await expect(nodes[0]!.projector.append(workspaceId, [odd])).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    });
  });

  it('numbers on where another server has written since, and in what is written with that', async () => {
    const [one, other, workspaceIds] = [nodes[0]!, await aNode(), [newId(), newId()]];
    const append = ({ projector }: Node) =>
      Promise.all(workspaceIds.map((id) => projector.append(id, [anEvent(), anEvent()])));
    for (const node of [one, other, one, other]) await append(node);
    for (const id of workspaceIds) expect((await trailOf(id)).map(({ seq }) => seq)).toEqual(upTo(8));
  });

  it('takes in more than one look can, the oldest first', async () => {
    const workspaceId = newId();
    const events = upTo(450).map(() => anEvent());
    const random = randomFrom(1);
    const mixed = events.map((event) => ({ event, at: random() })).sort((a, b) => a.at - b.at);
    const { sources, projector } = nodes[0]!;
    await Promise.all(mixed.map(({ event }, at) => insert(sources[at % 2]!, workspaceId, [event])));
    await projector.append(workspaceId, [anEvent({ name: 'last' })]);
    const trail = await trailOf(workspaceId);
    expect(trail.slice(0, -1).map(({ _id }) => _id)).toEqual(events.map(({ eventId }) => eventId));
    expect(trail.at(-1)!.name).toBe('last');
  });

  it('has who waits for it wait for what was acknowledged before, not for what comes all the time', async () => {
    let looks = 0;
    let more: () => Promise<unknown> = () => Promise.resolve();
    const { sources, projector } = await aNode(({ outboxes }) => {
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
    const trail = await trailOf(workspaceId);
    expect(trail.map(({ _id }) => _id)).toEqual(expect.arrayContaining(before));
    expect(trail.some(({ name }) => name === 'last')).toBe(true);
    more = () => Promise.resolve();
    await projector.drain(workspaceId);
    expect(await waitingOf(workspaceId)).toEqual([]);
  });

  it.each(['a drain', 'an append'])('that stops brings %s under way to its end first', async (what) => {
    const workspaceId = newId();
    let held!: Hold;
    const { sources, projector } = await aNode(({ trail }) => {
      held = hold(trail, 'append');
    });
    await insert(sources[0]!, workspaceId, [anEvent()]);
    const work =
      what === 'a drain' ? projector.drain(workspaceId) : projector.append(workspaceId, [anEvent()]);
    await held.reached;
    let stopped = false;
    const stopping = projector.beforeApplicationShutdown().then(() => (stopped = true));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(stopped).toBe(false);
    held.release();
    await stopping;
    expect(await waitingOf(workspaceId)).toEqual([]);
    await work;
  });

  it('goes on where a node has died between the trail and the outbox, and finds what nobody projects', async () => {
    const dead = await aNode(({ outboxes }) => {
      outboxes.take = () => Promise.reject(new Error('killed'));
    });
    const workspaces = upTo(3).map(() => newId());
    for (const workspaceId of workspaces) {
      await insert(dead.sources[1]!, workspaceId, [anEvent(), anEvent()]);
      await expect(dead.projector.drain(workspaceId)).rejects.toThrow('killed');
      expect(await waitingOf(workspaceId)).toHaveLength(1);
    }
    nodes[0]!.projector.onApplicationBootstrap();
    for (const workspaceId of workspaces) {
      while ((await waitingOf(workspaceId)).length > 0) await new Promise(setImmediate);
      expect((await trailOf(workspaceId)).map(({ seq }) => seq)).toEqual([1, 2]);
    }
  });
});
