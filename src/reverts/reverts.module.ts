import { Module } from '@nestjs/common';
import { PatchesModule } from '../patches/patches.module.js';
import { TurnApiModule } from '../turn-api/turn-api.module.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { RevertsController } from './reverts.controller.js';
import { RevertsService } from './reverts.service.js';

@Module({
  imports: [PatchesModule, TurnApiModule, JobsModule],
  controllers: [RevertsController],
  providers: [RevertsService],
})
export class RevertsModule {}
