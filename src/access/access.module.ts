import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { Memberships } from './memberships.js';
import { Viewers } from './viewers.js';

/** Memberships, and what each member may see of calls, batches and the audit trail. */
@Module({ imports: [EventsModule], providers: [Memberships, Viewers], exports: [Memberships, Viewers] })
export class AccessModule {}
