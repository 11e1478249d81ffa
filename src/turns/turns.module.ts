import { Module } from '@nestjs/common';
import { StorageModule } from '../storage/storage.module.js';
import { DeadlineSweep } from './deadline-sweep.js';
import { OpenTurns } from './open-turns.js';
import { TurnWaiters } from './turn-waiters.js';

/** The turns that this node works on: their state, who waits for them, and their clocks. */
@Module({
  imports: [StorageModule],
  providers: [DeadlineSweep, OpenTurns, TurnWaiters],
  exports: [OpenTurns, TurnWaiters],
})
export class TurnsModule {}
