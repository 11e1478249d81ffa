import { Module } from '@nestjs/common';
import { UserLines } from './user-jobs.js';
import { WorkPool } from './work-pool.js';

@Module({ providers: [UserLines, WorkPool], exports: [UserLines, WorkPool] })
export class JobsModule {}
