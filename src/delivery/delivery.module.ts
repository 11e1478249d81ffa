import { Module } from '@nestjs/common';
import { CatalogModule } from '../catalog/catalog.module.js';
import { ClientsModule } from '../clients/clients.module.js';
import { FilesModule } from '../files/files.module.js';
import { PatchesModule } from '../patches/patches.module.js';
import { TurnsModule } from '../turns/turns.module.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { ClientReports } from './client-reports.js';
import { ClientUploads } from './client-uploads.js';
import { CreateCheck } from './create-check.js';
import { Deliveries } from './deliveries.js';
import { Dispatcher } from './dispatcher.js';
import { ResultCheck } from './result-check.js';

/** What goes between turns and connected clients: which client gets a call, what it is sent, what it reports. */
@Module({
  imports: [CatalogModule, ClientsModule, FilesModule, PatchesModule, TurnsModule, JobsModule],
  providers: [ClientReports, ClientUploads, CreateCheck, Deliveries, Dispatcher, ResultCheck],
  exports: [ClientReports, ClientUploads, Deliveries, Dispatcher, ResultCheck],
})
export class DeliveryModule {}
