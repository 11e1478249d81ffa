import { Injectable } from '@nestjs/common';
import type { ClientRoot, RootConflict, WorkspaceRoot } from '@patchbay/protocol';
import { Clock, isoTime } from '../common/clock.js';
import { KeyLocks } from '../common/key-locks.js';
import { DomainError } from '../common/domain-error.js';
import type { Membership } from '../storage/ports/turn.js';
import { type RootRecord, RootStore } from '../storage/records/roots.js';
import { UserStore } from '../storage/records/users.js';
import { WorkspaceStore } from '../storage/ports/workspaces.store.js';
import { folderViews } from './folder-views.js';
import { Presence } from './presence.js';
import { UserFolders } from './user-folders.js';

/** Folders per workspace, and folders that one member may register. */
const MAX_WORKSPACE_ROOTS = 1_000;
const MAX_MEMBER_ROOTS = 100;

/** The folders of a workspace. A name belongs to the folder that first connected under it [ROOT-1]. */
@Injectable()
export class RootsService {
  /** Serializes the claims of a workspace on this node. */
  private readonly claims = new KeyLocks();

  constructor(
    private readonly store: RootStore,
    private readonly users: UserStore,
    private readonly workspaces: WorkspaceStore,
    private readonly presence: Presence,
    private readonly clock: Clock,
  ) {}

  /** Registers new folders. CONFLICT if another folder has one of the names; then none is registered. */
  async claim(membership: Membership, roots: readonly ClientRoot[]): Promise<void> {
    if (roots.length === 0) return;
    await this.claims.hold([membership.workspaceId], () => this.claimAll(membership, roots));
  }

  private async claimAll({ workspaceId, userId }: Membership, roots: readonly ClientRoot[]): Promise<void> {
    const known = await this.store.ofWorkspace(workspaceId);
    const byDocPath = new Map(known.map((root) => [root.docPath, root]));
    for (const root of roots) await this.requireSame(root, byDocPath.get(root.docPath) ?? null);
    const added = roots.filter(({ docPath }) => !byDocPath.has(docPath));
    if (added.length > 0) requireRoom(known, added.length, userId);
    const claimedAt = this.clock.now();
    for (const { name, docPath, rootId } of added) {
      const root: RootRecord = { workspaceId, docPath, name, rootId, userId, claimedAt };
      await this.requireSame(root, await this.store.claim(root));
    }
  }

  /** All folders of the workspace, with the last status from the user's own clients. */
  async list({ workspaceId, userId }: Membership): Promise<WorkspaceRoot[]> {
    const roots = await this.store.ofWorkspace(workspaceId);
    if (roots.length === 0) return [];
    const [clients, statuses] = await Promise.all([
      this.presence.ofUser(workspaceId, userId),
      this.presence.statusesOf(workspaceId, userId),
    ]);
    return folderViews(roots, clients, statuses);
  }

  /** The folders of the user's clients that calls may name. */
  async foldersOf({ workspaceId, userId }: Membership): Promise<UserFolders> {
    const [clients, registered] = await Promise.all([
      this.presence.ofUser(workspaceId, userId),
      this.store.ofWorkspace(workspaceId),
    ]);
    return new UserFolders(clients, registered, this.clock.now());
  }

  /** Registers one folder for a push, which has no connection. Returns it as listed. */
  async claimOne(user: Membership, root: ClientRoot): Promise<WorkspaceRoot> {
    await this.claim(user, [root]);
    return (await this.list(user)).find(({ docPath }) => docPath === root.docPath)!;
  }

  /** Frees the name; allowed for the member who registered the folder and for owners. */
  async forget({ workspaceId, userId }: Membership, docPath: string): Promise<void> {
    const root = (await this.store.ofWorkspace(workspaceId)).find((known) => known.docPath === docPath);
    if (!root) throw new DomainError('NOT_FOUND', 'The workspace has no folder of this docPath.');
    if (root.userId !== userId && (await this.workspaces.roleOf(workspaceId, userId)) !== 'owner') {
      const message =
        'Only the member who registered the folder, or an owner of the workspace, can delete its registration.';
      throw new DomainError('FORBIDDEN', message);
    }
    await this.store.remove(root);
  }

  private async requireSame({ name, rootId }: ClientRoot, existing: RootRecord | null): Promise<void> {
    if (existing === null || existing.rootId === rootId) return;
    const [owner] = await this.users.byIds([existing.userId]);
    const ownerName = owner ? (owner.fullName ?? owner.email) : 'a former member';
    const details: RootConflict = { docPath: existing.docPath, rootId: existing.rootId };
    throw new DomainError(
      'CONFLICT',
      `The folder "${name}" cannot be connected: ${ownerName} connected another folder as "${existing.name}" in this workspace ` +
        `on ${isoTime(existing.claimedAt)}. For another project choose another name (patchbay: --name). For the same project use ` +
        "the rootId in this error's `details` (patchbay: --same-project). Clients of one machine share it with rootIdOf of @patchbay/client/home.",
      { details: { ...details } },
    );
  }
}

/** A soft limit: parallel claims on two nodes do not see each other. */
function requireRoom(known: readonly RootRecord[], added: number, userId: string): void {
  const own = known.filter((root) => root.userId === userId).length;
  const full =
    own + added > MAX_MEMBER_ROOTS
      ? `You have registered ${own} folders in this workspace; the limit is ${MAX_MEMBER_ROOTS}`
      : known.length + added > MAX_WORKSPACE_ROOTS
        ? `The workspace has ${known.length} folders; the limit is ${MAX_WORKSPACE_ROOTS}`
        : null;
  if (full === null) return;
  throw new DomainError('CONFLICT', `${full}. Delete a registration first: DELETE …/roots/:docPath.`);
}
