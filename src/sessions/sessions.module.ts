import { Module } from '@nestjs/common';
import { SharesModule } from '../shares/shares.module.js';
import { SessionsService } from './sessions.service.js';

@Module({
  imports: [SharesModule],
  providers: [SessionsService],
  exports: [SessionsService],
})
export class SessionsModule {}
