/*
 * How fast events come into trails on MongoDB, and how often a server has to begin again as another was faster:
 * 64 at once, each waiting for its event, in one workspace and in 64, from several server processes.
 *
 *   npm run build && PATCHBAY_TEST_MONGODB_URI=mongodb://… node bench/mongo-trail.mjs [processes=4] [seconds=5]
 */
import 'reflect-metadata';
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { NestFactory } from '@nestjs/core';
import mongoose from 'mongoose';
import { newId } from '../dist/common/ids.js';
import { MongoStorageModule } from '../dist/storage/mongo/mongo.module.js';
import { Projector } from '../dist/storage/mongo/projector.js';
import { Trail } from '../dist/storage/mongo/trail.js';

const AT_ONCE = 64;

if (process.send) await work(JSON.parse(process.argv[2]));
else await measure(Number(process.argv[2] ?? 4), Number(process.argv[3] ?? 5));

async function measure(processes, seconds) {
  const [, hosts, options] = /^([^/]+\/\/[^/?]+)[^?]*(.*)$/.exec(process.env.PATCHBAY_TEST_MONGODB_URI);
  for (const workspaces of [1, AT_ONCE]) {
    const uri = `${hosts}/patchbay-bench-${randomUUID()}${options}`;
    const ids = Array.from({ length: workspaces }, () => newId());
    const shares = Array.from({ length: processes }, (_, at) =>
      Array.from({ length: AT_ONCE }, (_, n) => n)
        .filter((n) => n % processes === at)
        .map((n) => ids[n % workspaces]),
    );
    const children = shares.map((share) =>
      fork(new URL(import.meta.url), [JSON.stringify({ uri, seconds, share })]),
    );
    await Promise.all(children.map((child) => once(child, 'message')));
    for (const child of children) child.send('go');
    const counts = (await Promise.all(children.map((child) => once(child, 'message')))).map(
      ([count]) => count,
    );
    const sum = (of) => counts.reduce((total, count) => total + count[of], 0);
    const [events, batches, refused] = [sum('events'), sum('batches'), sum('refused')];
    const connection = await mongoose.createConnection(uri).asPromise();
    const gaps = await gapsOf(connection.db.collection('audit_events'), ids);
    await connection.dropDatabase();
    await connection.close();
    console.log(
      `${AT_ONCE} at once, ${processes} processes, workspaces: ${workspaces} — ${Math.round(events / seconds)} events/s, ` +
        `${(events / (batches - refused)).toFixed(1)} events a batch, ${(refused / events).toFixed(4)} retries an event ` +
        `(${refused} of ${batches} batches); gaps: ${gaps}`,
    );
  }
}

async function gapsOf(events, ids) {
  let gaps = 0;
  for (const workspaceId of ids) {
    const [last] = await events.find({ workspaceId }).sort({ seq: -1 }).limit(1).toArray();
    gaps += (last?.seq ?? 0) - (await events.countDocuments({ workspaceId }));
  }
  return gaps;
}

async function work({ uri, seconds, share }) {
  const counts = { events: 0, batches: 0, refused: 0 };
  const { insert } = Trail.prototype;
  Trail.prototype.insert = async function (...given) {
    const isDone = await insert.apply(this, given);
    counts.batches += 1;
    if (!isDone) counts.refused += 1;
    return isDone;
  };
  const app = await NestFactory.createApplicationContext(MongoStorageModule.on(uri), { logger: ['error'] });
  const projector = app.get(Projector);
  process.send('ready');
  await once(process, 'message');
  const end = performance.now() + seconds * 1000;
  await Promise.all(
    share.map(async (workspaceId) => {
      while (performance.now() < end) {
        await projector.append(workspaceId, [anEvent(workspaceId)]);
        counts.events += 1;
      }
    }),
  );
  process.send(counts);
  await app.close();
  process.disconnect();
}

function anEvent(sessionId) {
  return {
    ...{ eventId: newId(), name: 'Tool.CreateFile.Accepted', at: Date.now(), sessionId },
    ...{ conversationId: 'conversation', turnId: sessionId, toolCallId: 'call_1', callId: sessionId },
    ...{ attempt: 1, actor: { userId: 'user', clientId: 'laptop' } },
    fields: { toolName: 'create_file', path: 'notes/a.md', sizeBytes: 512 },
  };
}
