import { Module } from '@nestjs/common';
import { SharesModule } from '../shares/shares.module.js';
import { StorageModule } from '../storage/storage.module.js';
import { SessionsService } from './sessions.service.js';

@Module({
  imports: [SharesModule, StorageModule],
  providers: [SessionsService],
  exports: [SessionsService],
})
export class SessionsModule {}
