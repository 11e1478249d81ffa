import { Injectable } from '@nestjs/common';
import { InjectModel } from '@nestjs/mongoose';
import { Model } from 'mongoose';
import { type RootRecord, RootStore } from '../ports/roots.store.js';
import { type RootDocument, ROOTS } from './collections.js';
import { MongoDatabase } from './database.js';
import { Gathered } from './gathered.js';
import { KnownWorkspaces } from './known-workspaces.js';
import { eq, keyOf } from './values.js';

@Injectable()
export class MongoRootStore extends RootStore {
  private readonly lists = new Gathered<string, RootRecord[]>((ids) => this.listsOf(ids));

  constructor(
    private readonly database: MongoDatabase,
    private readonly workspaces: KnownWorkspaces,
    @InjectModel(ROOTS) private readonly roots: Model<RootDocument>,
  ) {
    super();
  }

  async claim(root: RootRecord): Promise<RootRecord> {
    await this.workspaces.require(root.workspaceId);
    const _id = keyOf(root.workspaceId, root.docPath);
    for (;;) {
      if (await this.database.insert(this.roots, { _id, ...root })) return root;
      const standing = await this.database.attempt(() =>
        this.roots.findOne({ _id: eq(_id) }, { _id: 0 }).lean<RootRecord>(),
      );
      // Null where it has just been taken out.
      if (standing !== null) return standing;
    }
  }

  async remove({ workspaceId, docPath, rootId, claimedAt }: RootRecord): Promise<void> {
    await this.workspaces.require(workspaceId);
    const claim = { _id: eq(keyOf(workspaceId, docPath)), rootId: eq(rootId), claimedAt: eq(claimedAt) };
    await this.database.attempt(() => this.roots.deleteOne(claim));
  }

  async ofWorkspace(workspaceId: string): Promise<RootRecord[]> {
    return this.lists.of(eq(workspaceId).$eq);
  }

  private async listsOf(workspaceIds: readonly string[]): Promise<RootRecord[][]> {
    const filter = { workspaceId: { $in: [...new Set(workspaceIds)] } };
    const found = await this.database.attempt(() =>
      this.roots.find(filter, { _id: 0 }).sort({ workspaceId: 1, docPath: 1 }).lean<RootRecord[]>(),
    );
    return workspaceIds.map((id) => found.filter(({ workspaceId }) => workspaceId === id));
  }
}
