import { Module } from '@nestjs/common';
import { RateWindows } from './rate-windows.js';

/** The counters behind every rate limit. */
@Module({ providers: [RateWindows], exports: [RateWindows] })
export class RateLimitModule {}
