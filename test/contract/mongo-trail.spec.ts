import 'reflect-metadata';
import { mongo } from 'mongoose';
import type { Model } from 'mongoose';
import { newId } from '../../src/common/ids.js';
import { outboxUpdate } from '../../src/storage/mongo/outbox.js';
import type { OutboxDocument } from '../../src/storage/mongo/outboxes.js';
import type { AuditDraft } from '../../src/storage/ports/audit.store.js';
import { testFixture } from '../support/fixtures.js';
import { describeOnMongo } from '../support/mongo-server.js';
import { anEvent, upTo } from './records.js';
import { insertWith, type TrailNode, TrailNodes, type TrailParts } from './trail-nodes.js';

/** Of every third operation the first reply is lost, after it was done. */
function loseReplies({ database }: TrailParts): void {
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

describeOnMongo('the trail of a workspace on MongoDB', () => {
  const servers = testFixture(() => TrailNodes.open());
  const update = (source: Model<OutboxDocument>, _id: string, workspaceId: string, events: AuditDraft[]) =>
    source.updateOne({ _id }, outboxUpdate(workspaceId, events));

  /**
   * Several writers, each an aggregate after another, as fast as they can: a step of a writer comes after the one before,
   * which is in another aggregate, was acknowledged.
   */
  async function writeAll(workspaceId: string, writers: number, steps: number): Promise<string[][]> {
    return Promise.all(
      upTo(writers).map(async (writer) => {
        const node = servers.nodes[writer % servers.nodes.length]!;
        const own: { source: Model<OutboxDocument>; _id: string }[] = [];
        const written: string[] = [];
        for (const step of upTo(steps)) {
          const events = upTo(1 + (step % 3)).map(() => anEvent({ sessionId: `${writer}` }));
          const at = own[step % 3];
          const source = node.sources[step % 2]!;
          if (at === undefined) own.push({ source, _id: await insertWith(source, workspaceId, events) });
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
    const trail = await servers.trailOf(workspaceId);
    expect(trail.map(({ seq }) => seq)).toEqual(upTo(written.flat().length));
    expect(trail.map(({ _id }) => _id).sort()).toEqual(written.flat().sort());
    expect(await servers.waitingOf(workspaceId)).toEqual([]);
  }

  it('numbers every event once, without gaps, from any node and any number of times', async () => {
    for (let more = 0; more < 3; more += 1) await servers.another();
    const workspaceId = newId();
    const written = await writeAll(workspaceId, 12, 15);
    await Promise.all(servers.nodes.map(({ projector }) => projector.drain(workspaceId)));
    await expectWhole(workspaceId, written);
  });

  it('numbers every event once when replies of the database are lost', async () => {
    for (let more = 0; more < 3; more += 1) await servers.another(loseReplies);
    const workspaceId = newId();
    const written = await writeAll(workspaceId, 8, 10);
    await Promise.all(servers.nodes.map(({ projector }) => projector.drain(workspaceId)));
    await expectWhole(workspaceId, written);
  });

  it('would repeat a number without the index', async () => {
    for (let more = 0; more < 3; more += 1) await servers.another();
    await servers.nodes[0]!.events.collection.dropIndex('seq');
    for (let isTwice = false; !isTwice;) {
      const workspaceId = newId();
      const written = await writeAll(workspaceId, 12, 15);
      await Promise.all(servers.nodes.map(({ projector }) => projector.drain(workspaceId)));
      isTwice = await expectWhole(workspaceId, written).then(
        () => false,
        () => true,
      );
    }
  });

  it('keeps the order of causes and effects of one process', async () => {
    const workspaceId = newId();
    const written = await writeAll(workspaceId, 12, 15);
    await servers.nodes[0]!.projector.drain(workspaceId);
    await expectWhole(workspaceId, written);
    const trail = await servers.trailOf(workspaceId);
    written.forEach((ids, writer) => {
      const own = trail.filter(({ sessionId }) => sessionId === `${writer + 1}`);
      expect(own.map(({ _id }) => _id)).toEqual(ids);
    });
  });

  it('keeps the order of an aggregate, also where a clock was set back', async () => {
    const workspaceId = newId();
    const [old, middle, young] = [newId(), newId(), newId()];
    const [{ sources, projector }] = servers.nodes as [TrailNode];
    await insertWith(
      sources[0]!,
      workspaceId,
      [young, old].map((eventId) => anEvent({ eventId })),
    );
    await insertWith(sources[1]!, workspaceId, [anEvent({ eventId: middle })]);
    await projector.drain(workspaceId);
    expect(await servers.idsOf(workspaceId)).toEqual([middle, young, old]);
  });

  it('continues the numbers after the writes of another server', async () => {
    const [one, other, workspaceIds] = [servers.nodes[0]!, await servers.another(), [newId(), newId()]];
    const append = ({ projector }: TrailNode) =>
      Promise.all(workspaceIds.map((id) => projector.append(id, [anEvent(), anEvent()])));
    for (const node of [one, other, one, other]) await append(node);
    for (const id of workspaceIds) expect((await servers.trailOf(id)).map(({ seq }) => seq)).toEqual(upTo(8));
  });
});
