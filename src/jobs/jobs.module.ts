import { Module } from '@nestjs/common';
import { UserJobs } from './user-jobs.js';
import { WorkPool } from './work-pool.js';

@Module({ providers: [UserJobs, WorkPool], exports: [UserJobs, WorkPool] })
export class JobsModule {}
