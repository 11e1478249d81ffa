import { Module } from '@nestjs/common';
import { Bus } from './bus.js';
import { ChangeFeed } from './change-feed.js';
import { InProcessBus } from './in-process-bus.js';

/** What carries hints between nodes, and the feed of what was committed. */
@Module({ providers: [{ provide: Bus, useClass: InProcessBus }, ChangeFeed], exports: [Bus, ChangeFeed] })
export class EventsModule {}
