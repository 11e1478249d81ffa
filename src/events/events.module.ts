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
  // An embedded store has one process; a database may have several.
  if (redisUrl === null) return new InProcessBus(mongodbUri === null ? 'alone' : 'unlinked');
  // Loaded only when Redis is configured.
  const { RedisBus } = await import('./redis-bus.js');
  return new RedisBus(redisUrl);
}
