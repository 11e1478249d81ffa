import { Module } from '@nestjs/common';
import { LimitsModule } from '../limits/limits.module.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { BodyReader } from './body-reader.js';
import { Receiving } from './receiving.js';
import { RequestBodies } from './request-bodies.js';

@Module({
  imports: [JobsModule, LimitsModule],
  providers: [BodyReader, Receiving, RequestBodies],
  exports: [RequestBodies],
})
export class BodiesModule {}
