import { Module } from '@nestjs/common';
import { StorageModule } from '../storage/storage.module.js';
import { FileWrites } from './file-writes.js';
import { FilesService } from './files.service.js';
import { FolderPlans } from './folder-plans.js';
import { UploadsService } from './uploads.service.js';

@Module({
  imports: [StorageModule],
  providers: [FilesService, FileWrites, FolderPlans, UploadsService],
  exports: [FilesService, FileWrites, UploadsService],
})
export class FilesModule {}
