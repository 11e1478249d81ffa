import { Module } from '@nestjs/common';
import { StorageModule } from '../storage/storage.module.js';
import { SessionsService } from './sessions.service.js';

@Module({
  imports: [StorageModule],
  providers: [SessionsService],
  exports: [SessionsService],
})
export class SessionsModule {}
