import type { AuditEvent, Json } from '@patchbay/protocol';
import { newId } from '../../src/common/ids.js';
import type { AuditDraft } from '../../src/storage/ports/audit.store.js';
import type { UserRecord } from '../../src/storage/records/users.js';
import type { WorkspaceRecord } from '../../src/storage/ports/workspaces.store.js';
import type { CallResult } from '../../src/storage/ports/turns.store.js';
import type { Membership, Turn } from '../../src/storage/ports/turn.js';
import { NOON } from '../../src/turns/state/turn.sample.js';
import type { Stores } from './backends.js';

export function aUser(changes: Partial<UserRecord> = {}): UserRecord {
  const id = newId();
  return {
    id,
    email: `${id}@example.com`,
    fullName: null,
    passwordHash: 'hash',
    createdAt: NOON,
    ...changes,
  };
}

export function aWorkspace(changes: Partial<WorkspaceRecord> = {}): WorkspaceRecord {
  const members: WorkspaceRecord['members'] = [{ userId: newId(), role: 'owner', addedAt: NOON }];
  return {
    ...{
      id: newId(),
      name: 'Fixture',
      approvals: [],
      createdAt: NOON,
      createdBy: 'maker',
      version: 1,
      members,
    },
    ...changes,
  };
}

/** Stores a workspace and returns its id; `memberId`: who is a member beside its owner. */
export async function givenWorkspace(stores: Stores, memberId = 'u'): Promise<string> {
  const workspace = { ...withMember(aWorkspace(), memberId), version: 1 };
  await stores.workspaces.insert(workspace);
  return workspace.id;
}

/** Makes the user a member, if they are none: only members write. */
export async function join({ workspaces }: Stores, { workspaceId, userId }: Membership): Promise<void> {
  for (;;) {
    const workspace = await workspaces.byId(workspaceId);
    if (workspace === null || workspace.members.some((member) => member.userId === userId)) return;
    if (await workspaces.save(withMember(workspace, userId), workspace.version)) return;
  }
}

/** Ends a membership. */
export async function leave({ workspaces }: Stores, { workspaceId, userId }: Membership): Promise<void> {
  const workspace = (await workspaces.byId(workspaceId))!;
  const members = workspace.members.filter((member) => member.userId !== userId);
  const version = workspace.version + 1;
  expect(await workspaces.save({ ...workspace, members, version }, workspace.version)).toBe(true);
}

/** The workspace as its next version, with a member more. */
export function withMember(workspace: WorkspaceRecord, userId: string): WorkspaceRecord {
  const members = [...workspace.members, { userId, role: 'member' as const, addedAt: NOON + 1 }];
  return { ...workspace, version: workspace.version + 1, members };
}

export function anEvent(changes: Partial<AuditDraft> = {}): AuditDraft {
  return {
    eventId: newId(),
    name: 'Tool.CreateFile.Accepted',
    at: NOON,
    sessionId: null,
    conversationId: null,
    turnId: null,
    toolCallId: null,
    callId: null,
    attempt: null,
    actor: { userId: null, clientId: null },
    fields: {},
    ...changes,
  };
}

/** Inserts a turn, of a member from here on, with what a test does not care about filled in. */
export async function insertTurn(
  stores: Stores,
  turn: Turn,
  given: { arguments?: Json[]; results?: CallResult[]; events?: AuditDraft[] } = {},
): Promise<Turn> {
  await join(stores, turn);
  const callArguments = given.arguments ?? turn.calls.map(() => ({}));
  return stores.turns.insert(turn, callArguments, given.results ?? [], given.events ?? []);
}

/** The events that one search finds. */
export async function findIn(
  stores: Stores,
  ...search: Parameters<Stores['audit']['page']>
): Promise<AuditEvent[]> {
  return (await stores.audit.page(...search)).events;
}

/** The whole trail of a workspace. */
export function trailOf(stores: Stores, workspaceId: string): Promise<AuditEvent[]> {
  return findIn(stores, workspaceId, {}, 0, 10_000);
}

/** 1 to n: the sequence numbers of a trail of n events that has no gaps. */
export function upTo(n: number): number[] {
  return Array.from({ length: n }, (_, i) => i + 1);
}
