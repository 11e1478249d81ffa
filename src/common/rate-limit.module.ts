import { Module } from '@nestjs/common';
import { Config } from '../config/config.js';
import { ClientAddresses } from './http/client-address.js';
import { RateLimits } from './rate-limits.js';
import { RateWindows } from './rate-windows.js';

/** Every rate limit, the counters behind them, and whom they count. */
@Module({
  providers: [
    RateWindows,
    RateLimits,
    {
      provide: ClientAddresses,
      inject: [Config],
      useFactory: ({ trustedProxies }: Config) => new ClientAddresses(trustedProxies),
    },
  ],
  exports: [RateWindows, RateLimits, ClientAddresses],
})
export class RateLimitModule {}
