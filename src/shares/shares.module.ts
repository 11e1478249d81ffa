import { Module } from '@nestjs/common';
import { Shares } from './shares.js';

/** What each member may have of a workspace. */
@Module({ providers: [Shares], exports: [Shares] })
export class SharesModule {}
