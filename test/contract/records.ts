import type { AuditEvent, Json } from '@patchbay/protocol';
import { newId } from '../../src/common/ids.js';
import type { AuditDraft } from '../../src/storage/ports/audit.store.js';
import type { CallResult, TurnInsert, TurnLimits } from '../../src/storage/ports/turns.store.js';
import type { UserRecord } from '../../src/storage/ports/users.store.js';
import type { WorkspaceRecord } from '../../src/storage/ports/workspaces.store.js';
import type { Call, Turn } from '../../src/storage/ports/turn.js';
import type { Stores } from './backends.js';
import { nextDueAt } from '../../src/turns/deadlines.js';

export const NOON = Date.UTC(2025, 5, 1, 12);
export const NO_LIMITS: TurnLimits = { maxOpenTurns: 1000, keysSince: 0 };

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
  return { id: newId(), name: 'Workshop', createdAt: NOON, version: 1, members, ...changes };
}

/** Stores a workspace and returns its id. */
export async function givenWorkspace(stores: Stores): Promise<string> {
  const workspace = aWorkspace();
  await stores.workspaces.insert(workspace);
  return workspace.id;
}

/** A relayed call that waits for a client. */
export function aCall(changes: Partial<Call> = {}): Call {
  return {
    callId: newId(),
    toolCallId: 'call_1',
    name: 'workspace_create_file',
    auditName: 'CreateFile',
    contractDigest: 'c'.repeat(64),
    location: 'client',
    subject: { path: 'docs/a.md', overwrite: false },
    status: 'pending',
    attempt: 0,
    clientId: null,
    deliveryAt: NOON + 300_000,
    approvalAt: null,
    executionAt: null,
    releaseAt: null,
    retryAt: null,
    refusedBy: null,
    error: null,
    batchId: null,
    warnings: [],
    reportDigest: null,
    executionMs: null,
    endedAt: null,
    ...changes,
  };
}

/** An open turn of one pending call, version 1. */
export function aTurn(workspaceId: string, changes: Partial<Turn> = {}): Turn {
  const calls = changes.calls ?? [aCall()];
  return {
    workspaceId,
    sessionId: newId(),
    conversationId: newId(),
    turnId: newId(),
    userId: newId(),
    boundClientId: null,
    version: 1,
    status: 'open',
    acceptedAt: NOON,
    clocks: { deliveryMs: 300_000, approvalMs: 900_000, executionMs: 120_000 },
    requestHash: 'request-hash',
    idempotencyKey: null,
    dueAt: nextDueAt(calls),
    calls,
    ...changes,
  };
}

/** The turn as its next version, its first call changed. */
export function nextVersion(turn: Turn, call: Partial<Call> = {}, changes: Partial<Turn> = {}): Turn {
  const [first, ...others] = turn.calls;
  const calls = [{ ...first!, ...call }, ...others];
  return { ...turn, version: turn.version + 1, calls, dueAt: nextDueAt(calls), ...changes };
}

/** The turn with its first call, its only one, succeeded. */
export function completed(turn: Turn): Turn {
  return nextVersion(
    turn,
    { status: 'succeeded', endedAt: NOON + 5, executionMs: 5 },
    { status: 'completed' },
  );
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
  given: {
    arguments?: Json[];
    results?: CallResult[];
    events?: AuditDraft[];
    limits?: Partial<TurnLimits>;
  } = {},
): Promise<TurnInsert> {
  const callArguments = given.arguments ?? turn.calls.map(() => ({}));
  const limits = { ...NO_LIMITS, ...given.limits };
  return stores.turns.insert(turn, callArguments, given.results ?? [], given.events ?? [], limits);
}

/** The whole trail of a workspace. */
export function trailOf(stores: Stores, workspaceId: string): Promise<AuditEvent[]> {
  return stores.audit.page(workspaceId, {}, 0, 10_000);
}

/** 1 to n: the sequence numbers of a trail of n events that has no gaps. */
export function upTo(n: number): number[] {
  return Array.from({ length: n }, (_, i) => i + 1);
}
