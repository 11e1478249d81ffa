import { Module } from '@nestjs/common';
import { LimitsModule } from '../limits/limits.module.js';
import { SessionsService } from './sessions.service.js';

@Module({
  imports: [LimitsModule],
  providers: [SessionsService],
  exports: [SessionsService],
})
export class SessionsModule {}
