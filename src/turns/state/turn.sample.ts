import { newId } from '../../common/ids.js';
import type { Call, Turn } from '../../storage/ports/turn.js';
import { nextDueAt } from './deadlines.js';

/** Turns for tests; not part of the build. */

export const NOON = Date.UTC(2025, 5, 1, 12);

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
    endedBy: null,
    ...changes,
  };
}

/** An open turn with one pending call, version 1. */
export function aTurn(workspaceId: string, changes: Partial<Turn> = {}): Turn {
  const { calls = [aCall()], lease = null } = changes;
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
    lastClientId: null,
    folder: null,
    resultBudget: 16 * 1024 * 1024,
    lease,
    dueAt: nextDueAt(calls, lease),
    calls,
    ...changes,
  };
}

/** The next version of the turn, with its first call changed. */
export function nextVersion(turn: Turn, call: Partial<Call> = {}, changes: Partial<Turn> = {}): Turn {
  const [first, ...others] = turn.calls;
  const calls = [{ ...first!, ...call }, ...others];
  return { ...turn, version: turn.version + 1, calls, dueAt: nextDueAt(calls, turn.lease), ...changes };
}

/** The turn with its only call succeeded. */
export function completed(turn: Turn): Turn {
  return nextVersion(
    turn,
    { status: 'succeeded', endedBy: 'client', endedAt: NOON + 5, executionMs: 5 },
    { status: 'completed' },
  );
}
