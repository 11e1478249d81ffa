import { Module } from '@nestjs/common';
import { RateLimitModule } from '../common/rate-limit.module.js';
import { WorkModule } from '../work/work.module.js';
import { BodyReader } from './body-reader.js';
import { Receiving } from './receiving.js';
import { RequestBodies } from './request-bodies.js';

@Module({
  imports: [WorkModule, RateLimitModule],
  providers: [BodyReader, Receiving, RequestBodies],
  exports: [RequestBodies],
})
export class BodiesModule {}
