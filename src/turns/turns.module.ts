import { Module } from '@nestjs/common';
import { DeadlineSweep } from './deadline-sweep.js';
import { BusModule } from '../bus/bus.module.js';
import { OpenTurns } from './open-turns.js';
import { TurnHints } from './turn-hints.js';
import { TurnWaiters } from './turn-waiters.js';

/** The turns that this node works on: their state, who waits for them, and their clocks. */
@Module({
  imports: [BusModule],
  providers: [DeadlineSweep, OpenTurns, TurnHints, TurnWaiters],
  exports: [OpenTurns, TurnHints, TurnWaiters],
})
export class TurnsModule {}
