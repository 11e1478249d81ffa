import type { Abstract, INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import mongoose, { type Collection } from 'mongoose';
import { MongoStorageModule } from '../../src/storage/mongo/mongo.module.js';
import { aDatabaseOn, MONGO_SERVER } from '../support/mongo-server.js';
import { type Stores, storesOf } from './backends.js';

interface AnyDocument {
  _id: string;
  [field: string]: unknown;
}

/** The storage of a server on a database of its own, and what lies in that. */
export interface MongoApp {
  app: INestApplicationContext;
  stores: Stores;
  uri: string;
  /** One of its parts. */
  part<Part>(token: Abstract<Part> | string): Part;
  /** What lies in a collection. */
  in_(name: string): Collection<AnyDocument>;
  /** Another server on the same database; whoever opens it closes it. */
  another(): Promise<INestApplicationContext>;
  close(): Promise<void>;
}

/** Opens the storage of a server as it boots. */
export async function openMongoApp(): Promise<MongoApp> {
  const { uri, drop } = aDatabaseOn(MONGO_SERVER!);
  const watched = new URL(uri);
  watched.searchParams.set('monitorCommands', 'true');
  const another = () => {
    const options = { logger: false, abortOnError: false } as const;
    return NestFactory.createApplicationContext(MongoStorageModule.on(watched.href), options);
  };
  const app = await another();
  const connection = await mongoose.createConnection(uri).asPromise();
  return {
    ...{ app, stores: storesOf(app), uri, another },
    part: (token) => app.get(token, { strict: false }),
    in_: (name) => connection.db!.collection(name) as unknown as Collection<AnyDocument>,
    close: async () => {
      await app.close();
      await connection.close();
      await drop();
    },
  };
}
