import { Injectable } from '@nestjs/common';
import type { ClientRoot, RootConflict, WorkspaceRoot } from '@patchbay/protocol';
import { Clock, isoTime } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import type { Membership } from '../storage/ports/turn.js';
import { type RootRecord, RootStore } from '../storage/ports/roots.store.js';
import { UserStore } from '../storage/ports/users.store.js';
import { folderViews } from './folder-views.js';
import { Presence } from './presence.js';

/** Most folders of a workspace. */
const MAX_WORKSPACE_ROOTS = 1_000;

/** The folders of a workspace: a name stands for the one that was connected under it first [ROOT-1]. */
@Injectable()
export class RootsService {
  constructor(
    private readonly store: RootStore,
    private readonly users: UserStore,
    private readonly presence: Presence,
    private readonly clock: Clock,
  ) {}

  /** Registers the folders that are new here; CONFLICT where another folder has the name of one, and none is then. */
  async claim({ workspaceId, userId }: Membership, roots: readonly ClientRoot[]): Promise<void> {
    if (roots.length === 0) return;
    const known = await this.store.ofWorkspace(workspaceId);
    const byDocPath = new Map(known.map((root) => [root.docPath, root]));
    for (const root of roots) await this.requireSame(root, byDocPath.get(root.docPath) ?? null);
    const fresh = roots.filter(({ docPath }) => !byDocPath.has(docPath));
    if (fresh.length > 0 && known.length + fresh.length > MAX_WORKSPACE_ROOTS) {
      throw new DomainError(
        'CONFLICT',
        `The workspace has ${MAX_WORKSPACE_ROOTS} folders; it takes no more.`,
      );
    }
    const claimedAt = this.clock.now();
    for (const { name, docPath, rootId } of fresh) {
      const root: RootRecord = { workspaceId, docPath, name, rootId, userId, claimedAt };
      await this.requireSame(root, await this.store.claim(root));
    }
  }

  /** Every folder of the workspace, with what the user's own clients last said of it. */
  async list({ workspaceId, userId }: Membership): Promise<WorkspaceRoot[]> {
    const roots = await this.store.ofWorkspace(workspaceId);
    if (roots.length === 0) return [];
    const [clients, statuses] = await Promise.all([
      this.presence.ofUser(workspaceId, userId),
      this.presence.statusesOf(workspaceId, userId),
    ]);
    return folderViews(roots, clients, statuses);
  }

  /** Registers one folder, for whoever does not connect: a push. Gives it as it is listed. */
  async claimOne(user: Membership, root: ClientRoot): Promise<WorkspaceRoot> {
    await this.claim(user, [root]);
    return (await this.list(user)).find(({ docPath }) => docPath === root.docPath)!;
  }

  private async requireSame({ name, rootId }: ClientRoot, stands: RootRecord | null): Promise<void> {
    if (stands === null || stands.rootId === rootId) return;
    const [owner] = await this.users.byIds([stands.userId]);
    const whose = owner ? (owner.fullName ?? owner.email) : 'somebody who is gone';
    const details: RootConflict = { docPath: stands.docPath, rootId: stands.rootId };
    throw new DomainError(
      'CONFLICT',
      `The folder "${name}" can not be connected: in this workspace "${stands.name}" is another folder, that of ${whose}, ` +
        `first connected ${isoTime(stands.claimedAt)}. Connect this one under another name (--name), or say that it is ` +
        'the same project (--same-project).',
      { details: { ...details } },
    );
  }
}
