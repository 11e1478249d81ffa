import { Module } from '@nestjs/common';
import { Shares } from './shares.js';
import { TurnBytes } from './turn-bytes.js';

/** What each member may have of a workspace. */
@Module({ providers: [Shares, TurnBytes], exports: [Shares, TurnBytes] })
export class SharesModule {}
