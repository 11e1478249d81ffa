import { Module } from '@nestjs/common';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { Viewers } from './viewers.js';

/** Who sees what of a call, a batch and the trail. */
@Module({ imports: [WorkspacesModule], providers: [Viewers], exports: [Viewers] })
export class AccessModule {}
