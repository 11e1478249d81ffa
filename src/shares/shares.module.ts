import { Module } from '@nestjs/common';
import { StorageModule } from '../storage/storage.module.js';
import { Shares } from './shares.js';
import { TurnBytes } from './turn-bytes.js';

/** What each member may have of a workspace. */
@Module({ imports: [StorageModule], providers: [Shares, TurnBytes], exports: [Shares, TurnBytes] })
export class SharesModule {}
