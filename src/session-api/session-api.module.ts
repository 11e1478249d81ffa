import { Module } from '@nestjs/common';
import { CatalogModule } from '../catalog/catalog.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { SessionsController } from './sessions.controller.js';

/** Sessions over HTTP. Above the catalog, whose tools they choose from, and which knows sessions itself. */
@Module({ imports: [CatalogModule, SessionsModule], controllers: [SessionsController] })
export class SessionApiModule {}
