import { Module } from '@nestjs/common';
import { Config } from '../config/config.js';
import { Bus } from './bus.js';
import { InProcessBus } from './in-process-bus.js';

/** Chooses what carries messages between nodes. */
@Module({ providers: [{ provide: Bus, inject: [Config], useFactory: busOf }], exports: [Bus] })
export class EventsModule {}

async function busOf({ mongodbUri, redisUrl }: Config): Promise<Bus> {
  // The data directory of the embedded store belongs to one process; a database may have others.
  if (redisUrl === null) return new InProcessBus(mongodbUri === null ? 'alone' : 'unlinked');
  // Its client is loaded by whoever needs it.
  const { RedisBus } = await import('./redis-bus.js');
  return new RedisBus(redisUrl);
}
