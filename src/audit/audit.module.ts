import { Module } from '@nestjs/common';
import { StorageModule } from '../storage/storage.module.js';
import { AuditController } from './audit.controller.js';
import { AuditService } from './audit.service.js';

@Module({ imports: [StorageModule], controllers: [AuditController], providers: [AuditService] })
export class AuditModule {}
