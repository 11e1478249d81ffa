import type { AuditEvent, Json } from '@patchbay/protocol';
import { newId } from '../../src/common/ids.js';
import type { AuditDraft } from '../../src/storage/ports/audit.store.js';
import type { UserRecord } from '../../src/storage/ports/users.store.js';
import type { WorkspaceRecord } from '../../src/storage/ports/workspaces.store.js';
import type { Turn } from '../../src/storage/ports/turn.js';
import { NOON } from '../../src/turns/turn.sample.js';
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
  return { id: newId(), name: 'Workshop', approvals: [], createdAt: NOON, version: 1, members, ...changes };
}

/** Stores a workspace and returns its id. */
export async function givenWorkspace(stores: Stores): Promise<string> {
  const workspace = aWorkspace();
  await stores.workspaces.insert(workspace);
  return workspace.id;
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

/** Inserts a turn with what a test does not care about filled in. */
export function insertTurn(
  stores: Stores,
  turn: Turn,
  given: { arguments?: Json[]; events?: AuditDraft[] } = {},
): Promise<Turn> {
  const callArguments = given.arguments ?? turn.calls.map(() => ({}));
  return stores.turns.insert(turn, callArguments, given.events ?? []);
}

/** The whole trail of a workspace. */
export function trailOf(stores: Stores, workspaceId: string): Promise<AuditEvent[]> {
  return stores.audit.page(workspaceId, {}, 0, 10_000);
}

/** 1 to n: the sequence numbers of a trail of n events that has no gaps. */
export function upTo(n: number): number[] {
  return Array.from({ length: n }, (_, i) => i + 1);
}
