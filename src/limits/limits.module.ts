import { Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module.js';
import { Config } from '../config/config.js';
import { ClientAddresses } from '../common/http/client-address.js';
import { AnswersInFlight } from './answers-in-flight.js';
import { OpenTurnQuota } from './open-turn-quota.js';
import { Quotas } from './quotas.js';
import { RateLimits } from './rate-limits.js';
import { RateWindows } from './rate-windows.js';
import { RequestLimits } from './request-limits.js';

const LIMITS = [AnswersInFlight, OpenTurnQuota, Quotas, RateLimits, RateWindows, RequestLimits];

/** Rate limits, quotas and budgets, and the client addresses that they count. */
@Module({
  imports: [AccessModule],
  providers: [
    ...LIMITS,
    {
      provide: ClientAddresses,
      inject: [Config],
      useFactory: ({ trustedProxies }: Config) => new ClientAddresses(trustedProxies),
    },
  ],
  exports: [...LIMITS, ClientAddresses],
})
export class LimitsModule {}
