import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
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
import { ErrorFilter } from './common/http/error.filter.js';
import { loggingModule } from './common/logging.module.js';
import { LimitsModule } from './limits/limits.module.js';
import type { Config } from './config/config.js';
import { ContextModule } from './context/context.module.js';
import { OpsModule } from './ops/ops.module.js';
import { PatchesModule } from './patches/patches.module.js';
import { RelayModule } from './relay/relay.module.js';
import { RequestChecks } from './request-checks.js';
import { StorageModule } from './storage/storage.module.js';
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
  providers: [{ provide: APP_FILTER, useClass: ErrorFilter }, RequestChecks],
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
