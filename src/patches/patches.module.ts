import { Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module.js';
import { ClientsModule } from '../clients/clients.module.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { BaseTexts } from './base-texts.js';
import { ClientTexts } from './client-texts.js';
import { CloudTexts } from './cloud-texts.js';
import { OrphanedBatchSweep } from './orphaned-batch-sweep.js';
import { PatchOutcomes } from './patch-outcomes.js';
import { PatchPreparation } from './patch-preparation.js';
import { PatchReconciliation } from './patch-reconciliation.js';
import { PatchesController } from './patches.controller.js';
import { PatchesService } from './patches.service.js';

@Module({
  imports: [AccessModule, ClientsModule, JobsModule],
  controllers: [PatchesController],
  providers: [
    BaseTexts,
    ClientTexts,
    CloudTexts,
    OrphanedBatchSweep,
    PatchOutcomes,
    PatchPreparation,
    PatchReconciliation,
    PatchesService,
  ],
  exports: [BaseTexts, CloudTexts, PatchPreparation, PatchReconciliation, PatchesService],
})
export class PatchesModule {}
