import { Module } from '@nestjs/common';
import { Bus } from './bus.js';
import { InProcessBus } from './in-process-bus.js';

/** Chooses what carries hints between nodes. */
@Module({ providers: [{ provide: Bus, useClass: InProcessBus }], exports: [Bus] })
export class EventsModule {}
