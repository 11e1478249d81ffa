import { Module } from '@nestjs/common';
import { Config } from '../config/config.js';
import { Bus } from './bus.js';
import { ChangeFeed } from './change-feed.js';
import { InProcessBus } from './in-process-bus.js';

/** The bus between nodes, and the feed of what was committed. */
@Module({
  providers: [{ provide: Bus, inject: [Config], useFactory: busOf }, ChangeFeed],
  exports: [Bus, ChangeFeed],
})
export class EventsModule {}

async function busOf({ mongodbUri, redisUrl }: Config): Promise<Bus> {
  // The data directory of the embedded store belongs to one process; a database may have others.
  if (redisUrl === null) return new InProcessBus(mongodbUri === null ? 'alone' : 'unlinked');
  // Its client is loaded by whoever needs it.
  const { RedisBus } = await import('./redis-bus.js');
  return new RedisBus(redisUrl);
}
