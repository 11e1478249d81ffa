import { Logger } from '@nestjs/common';
import mongoose, { type Connection, type Model } from 'mongoose';
import { newId } from '../../src/common/ids.js';
import type { AuditDraft } from '../../src/storage/ports/audit.store.js';
import { CONNECT_OPTIONS, MongoDatabase } from '../../src/storage/mongo/database.js';
import { OUTBOX_FIELDS, OUTBOX_INDEX, outboxWith } from '../../src/storage/mongo/outbox.js';
import { type OutboxDocument, Outboxes } from '../../src/storage/mongo/outboxes.js';
import { Projector } from '../../src/storage/mongo/projector.js';
import { schemaOf } from '../../src/storage/mongo/schemas.js';
import { TRAIL, TRAIL_COLLECTIONS, type TrailDocument } from '../../src/storage/mongo/trail-collections.js';
import { Trail } from '../../src/storage/mongo/trail.js';
import {
  TURN_COLLECTIONS,
  TURN_TEXTS,
  type TurnDocument,
  TURNS,
  type TurnTextDocument,
} from '../../src/storage/mongo/turn-collections.js';
import { TurnTexts } from '../../src/storage/mongo/turn-texts.js';
import { aDatabaseOn, MONGO_SERVER } from '../support/mongo-server.js';

const SOURCES = ['things', 'others'];

/** A server with a projector: its own connection, its own models. */
export interface TrailNode {
  connection: Connection;
  sources: Model<OutboxDocument>[];
  events: Model<TrailDocument>;
  projector: Projector;
}

/** Of what a projector is made. */
export interface TrailParts {
  database: MongoDatabase;
  trail: Trail;
  outboxes: Outboxes;
}

/** Where drafts lie that are apart. */
function turnModels(connection: Connection): [Model<TurnTextDocument>, Model<TurnDocument>] {
  const schemas = new Map(TURN_COLLECTIONS.map(({ name, schema }) => [name, schema]));
  return [
    connection.model<TurnTextDocument>(TURN_TEXTS, schemas.get(TURN_TEXTS), TURN_TEXTS),
    connection.model<TurnDocument>(TURNS, schemas.get(TURNS), TURNS),
  ];
}

/** Servers that share a database, with two collections of aggregates. */
export class TrailNodes {
  readonly nodes: TrailNode[] = [];

  private constructor(
    private readonly uri: string,
    private readonly drop: () => Promise<void>,
  ) {}

  /** With one of them. */
  static async open(): Promise<TrailNodes> {
    Logger.overrideLogger(false);
    const { uri, drop } = aDatabaseOn(MONGO_SERVER!);
    const all = new TrailNodes(uri, drop);
    const { sources } = await all.another();
    for (const source of sources) {
      await source.createCollection();
      const { name, key } = OUTBOX_INDEX;
      await source.collection.createIndex(key, { name });
    }
    return all;
  }

  async close(): Promise<void> {
    for (const { projector } of this.nodes) await projector.beforeApplicationShutdown();
    for (const { connection } of this.nodes) await connection.close();
    await this.drop();
  }

  /** Another server; `change` makes its trail and its outboxes worse than they are. */
  async another(change: (parts: TrailParts) => void = () => undefined): Promise<TrailNode> {
    const connection = await mongoose.createConnection(this.uri, CONNECT_OPTIONS).asPromise();
    const database = await MongoDatabase.open(connection);
    const sources = SOURCES.map((name) =>
      connection.model<OutboxDocument>(name, schemaOf(OUTBOX_FIELDS), name),
    );
    const events = connection.model<TrailDocument>(TRAIL, TRAIL_COLLECTIONS[0]!.schema, TRAIL);
    const outboxes = new Outboxes(database, sources, new TurnTexts(database, ...turnModels(connection)));
    const parts = { database, trail: new Trail(database, events), outboxes };
    change(parts);
    const node = { connection, sources, events, projector: new Projector(parts.outboxes, parts.trail) };
    this.nodes.push(node);
    return node;
  }

  /** The trail of a workspace, in its order. */
  trailOf(workspaceId: string): Promise<TrailDocument[]> {
    return this.nodes[0]!.events.find({ workspaceId }).sort({ seq: 1 }).lean<TrailDocument[]>();
  }

  /** The ids of its events. */
  async idsOf(workspaceId: string): Promise<string[]> {
    return (await this.trailOf(workspaceId)).map(({ _id }) => _id);
  }

  /** The aggregates with events that are not in the trail yet. */
  async waitingOf(workspaceId: string): Promise<OutboxDocument[]> {
    const found = await Promise.all(
      this.nodes[0]!.sources.map((source) =>
        source.find({ pendingIn: workspaceId }).lean<OutboxDocument[]>(),
      ),
    );
    return found.flat();
  }
}

/** Stores an aggregate with events; gives its id. */
export async function insertWith(
  source: Model<OutboxDocument>,
  workspaceId: string,
  events: AuditDraft[],
): Promise<string> {
  const _id = newId();
  await new source({ _id, ...outboxWith(workspaceId, events) }).save();
  return _id;
}
