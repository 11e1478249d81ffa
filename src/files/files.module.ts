import { Module } from '@nestjs/common';
import { StorageModule } from '../storage/storage.module.js';
import { BlobSweep } from './blob-sweep.js';
import { ContentsController } from './contents.controller.js';
import { ContentsService } from './contents.service.js';
import { FileHistory } from './file-history.js';
import { FileListing } from './file-listing.js';
import { FileWrites } from './file-writes.js';
import { FilesController } from './files.controller.js';
import { FilesService } from './files.service.js';
import { FolderPlans } from './folder-plans.js';
import { UploadsService } from './uploads.service.js';

@Module({
  imports: [StorageModule],
  controllers: [ContentsController, FilesController],
  providers: [
    BlobSweep,
    ContentsService,
    FileHistory,
    FileListing,
    FilesService,
    FileWrites,
    FolderPlans,
    UploadsService,
  ],
  exports: [FileListing, FilesService, FileWrites, UploadsService],
})
export class FilesModule {}
