import { Module } from '@nestjs/common';
import { PatchesModule } from '../patches/patches.module.js';
import { TurnsModule } from '../turns/turns.module.js';
import { RevertsController } from './reverts.controller.js';
import { RevertsService } from './reverts.service.js';

@Module({
  imports: [PatchesModule, TurnsModule],
  controllers: [RevertsController],
  providers: [RevertsService],
})
export class RevertsModule {}
