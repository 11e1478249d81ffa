import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { Memberships } from './memberships.js';
import { Viewers } from './viewers.js';

/** Who is a member, and who sees what of a call, a batch and the trail. */
@Module({ imports: [EventsModule], providers: [Memberships, Viewers], exports: [Memberships, Viewers] })
export class AccessModule {}
