import { Module } from '@nestjs/common';
import { AccessModule } from '../../access/access.module.js';
import { ClientsModule } from '../../clients/clients.module.js';
import { EventsModule } from '../../events/events.module.js';
import { FilesModule } from '../../files/files.module.js';
import { JobsModule } from '../../jobs/jobs.module.js';
import { LimitsModule } from '../../limits/limits.module.js';
import { PatchesModule } from '../../patches/patches.module.js';
import { SessionsModule } from '../../sessions/sessions.module.js';
import { CatalogModule } from '../../tools/catalog/catalog.module.js';
import { ToolsModule } from '../../tools/tools.module.js';
import { WorkspacesModule } from '../../workspaces/workspaces.module.js';
import { CallAssessment } from './call-assessment.js';
import { ClientReports } from './client-reports.js';
import { ClientUploads } from './client-uploads.js';
import { DeadlineSweep } from './deadline-sweep.js';
import { Deliveries } from './deliveries.js';
import { RemovedMembers } from './removed-members.js';
import { Dispatcher } from './dispatcher.js';
import { KeySweep } from './key-sweep.js';
import { OpenTurns } from './open-turns.js';
import { Recovery } from './recovery.js';
import { ResultCheck } from './result-check.js';
import { ServerCalls } from './server-calls.js';
import { TurnAcceptance } from './turn-acceptance.js';
import { TurnBuilder } from './turn-builder.js';
import { TurnEngine } from './turn-engine.js';
import { TurnHints } from './turn-hints.js';
import { TurnReactions } from './turn-reactions.js';
import { TurnRequestCheck } from './turn-request-check.js';
import { TurnWaiters } from './turn-waiters.js';
import { WithdrawnTools } from './withdrawn-tools.js';

/** The turn engine below HTTP and the relay: accepts, runs, waits for and ends turns. */
@Module({
  imports: [
    AccessModule,
    CatalogModule,
    ClientsModule,
    EventsModule,
    FilesModule,
    JobsModule,
    LimitsModule,
    PatchesModule,
    SessionsModule,
    ToolsModule,
    WorkspacesModule,
  ],
  providers: [
    CallAssessment,
    ClientReports,
    ClientUploads,
    DeadlineSweep,
    Deliveries,
    RemovedMembers,
    Dispatcher,
    KeySweep,
    OpenTurns,
    Recovery,
    ResultCheck,
    ServerCalls,
    TurnAcceptance,
    TurnBuilder,
    TurnEngine,
    TurnHints,
    TurnReactions,
    TurnRequestCheck,
    TurnWaiters,
    WithdrawnTools,
  ],
  exports: [ClientReports, ClientUploads, Dispatcher, TurnEngine, WithdrawnTools],
})
export class TurnsModule {}
