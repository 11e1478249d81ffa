import { Module } from '@nestjs/common';
import { TurnBytes } from './turn-bytes.js';

@Module({ providers: [TurnBytes], exports: [TurnBytes] })
export class SharesModule {}
