import { Module } from '@nestjs/common';
import { LimitsModule } from '../limits/limits.module.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { BlobSweep } from './blob-sweep.js';
import { BlobsController } from './blobs.controller.js';
import { ContentsController } from './contents.controller.js';
import { ContentsService } from './contents.service.js';
import { FileCommitsController } from './file-commits.controller.js';
import { FileCommits } from './file-commits.js';
import { FileHeads } from './file-heads.js';
import { FileHistory } from './file-history.js';
import { FileListing } from './file-listing.js';
import { FileWrites } from './file-writes.js';
import { FilesController } from './files.controller.js';
import { FilesService } from './files.service.js';
import { Folders } from './folders.js';
import { NearestPath } from './nearest-path.js';
import { PathLocks } from './path-locks.js';
import { Spellings } from './spellings.js';
import { UploadsService } from './uploads.service.js';

@Module({
  imports: [LimitsModule, JobsModule],
  controllers: [BlobsController, ContentsController, FileCommitsController, FilesController],
  providers: [
    BlobSweep,
    ContentsService,
    FileCommits,
    FileHeads,
    FileHistory,
    FileListing,
    FilesService,
    FileWrites,
    Folders,
    NearestPath,
    PathLocks,
    Spellings,
    UploadsService,
  ],
  exports: [FileHeads, FileListing, FilesService, FileWrites, NearestPath, UploadsService],
})
export class FilesModule {}
