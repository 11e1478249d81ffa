import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { Model } from 'mongoose';
import { DomainError } from '../../common/domain-error.js';
import { type WorkspaceDocument, WORKSPACES } from './collections.js';
import { MongoDatabase } from './database.js';
import { eq } from './values.js';

/** Caches which workspaces exist: a workspace is never removed. */
@Injectable()
export class KnownWorkspaces {
  private readonly ids = new Set<string>();

  constructor(
    private readonly database: MongoDatabase,
    @InjectModel(WORKSPACES) private readonly workspaces: Model<WorkspaceDocument>,
  ) {}

  /** Throws NOT_FOUND if there is no such workspace. */
  async require(id: string): Promise<void> {
    if (this.ids.has(id)) return;
    const found = await this.database.attempt(() =>
      this.workspaces.findOne({ _id: eq(id) }, { _id: 1 }).lean(),
    );
    if (found === null) throw new DomainError('NOT_FOUND', 'There is no such workspace.');
    this.ids.add(id);
  }
}
