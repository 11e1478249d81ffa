import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import type { DestinationStream } from 'pino';
import { AccessModule } from './access/access.module.js';
import { AgentApiModule } from './agent-api/agent-api.module.js';
import { AuditModule } from './audit/audit.module.js';
import { AuthModule } from './auth/auth.module.js';
import { BodiesModule } from './bodies/bodies.module.js';
import { CatalogModule } from './tools/catalog/catalog.module.js';
import { Clock, Stopwatch, SystemClock } from './common/clock.js';
import { Lifecycle } from './common/lifecycle.js';
import { ConfigModule } from './config/config.module.js';
import { RequestPipe } from './common/request.pipe.js';
import { ErrorFilter } from './common/http/error.filter.js';
import { loggingModule } from './common/logging.module.js';
import { RateLimitGuard } from './limits/rate-limit.guard.js';
import { LimitsModule } from './limits/limits.module.js';
import type { Config } from './config/config.js';
import { ContextModule } from './context/context.module.js';
import { OpsModule } from './ops/ops.module.js';
import { PatchesModule } from './patches/patches.module.js';
import { RelayModule } from './relay/relay.module.js';
import { RequestInterceptor } from './request.interceptor.js';
import { StorageModule } from './storage/storage.module.js';
import { AccessGuard } from './workspaces/access.guard.js';
import { WorkspacesModule } from './workspaces/workspaces.module.js';

/** What the embedding process may replace. */
export interface AppParts {
  config: Config;
  clock?: SystemClock | undefined;
  /** Destination of log lines; stdout by default. */
  logDestination?: DestinationStream | undefined;
}

@Module({
  imports: [
    AccessModule,
    BodiesModule,
    AuthModule,
    WorkspacesModule,
    CatalogModule,
    AgentApiModule,
    PatchesModule,
    ContextModule,
    RelayModule,
    AuditModule,
    OpsModule,
    LimitsModule,
  ],
  // A request passes these in order: access, rate limit, then (in the interceptor) body, access again and validation.
  providers: [
    { provide: APP_FILTER, useClass: ErrorFilter },
    { provide: APP_GUARD, useClass: AccessGuard },
    { provide: APP_GUARD, useClass: RateLimitGuard },
    { provide: APP_INTERCEPTOR, useClass: RequestInterceptor },
    { provide: APP_PIPE, useClass: RequestPipe },
  ],
})
export class AppModule {
  static with({ config, clock, logDestination }: AppParts): DynamicModule {
    const time = clock ?? new SystemClock();
    const parts = [{ provide: Clock, useValue: time }, { provide: Stopwatch, useValue: time }, Lifecycle];
    return {
      module: AppModule,
      imports: [ConfigModule.with(config, parts), loggingModule(logDestination), StorageModule.with(config)],
    };
  }
}
