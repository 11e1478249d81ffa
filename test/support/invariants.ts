import type {
  AuditEvent,
  AuditPage,
  AuditStep,
  CallStatus,
  InvokeResult,
  TurnResult,
} from '@patchbay/protocol';
import type { Answer, TestUser } from './server.js';

/** The status that each step of the audit trail leaves a call in; null: it changes nothing. */
const STATUS_AFTER: Record<AuditStep, ((event: AuditEvent) => CallStatus) | null> = {
  Accepted: ({ fields }) => (fields.queued === true ? 'accepted' : 'pending'),
  Rejected: () => 'failed',
  Executing: () => 'executing',
  Forwarded: () => 'forwarded',
  Acknowledged: () => 'acknowledged',
  AwaitingApproval: () => 'awaiting_approval',
  Approved: () => 'accepted',
  Running: () => 'running',
  Released: () => 'pending',
  ResultReceived: ({ fields }) => (fields.success === true ? 'succeeded' : 'failed'),
  Denied: () => 'denied',
  Cancelled: () => 'cancelled',
  TimedOut: () => 'timed_out',
  LateResult: null,
  DuplicateResult: null,
  Diverged: null,
  Reverted: null,
  NotUploaded: null,
};
const FINAL: readonly AuditStep[] = ['Rejected', 'ResultReceived', 'Denied', 'Cancelled', 'TimedOut'];

/** Whether an event is about a turn as a whole. */
export function isOfTurn({ name }: { name: string }): boolean {
  return name.startsWith('Turn.');
}

/** The whole audit trail of a workspace, read page by page. */
export async function readTrail(user: TestUser, workspaceId: string, query = ''): Promise<AuditEvent[]> {
  const events: AuditEvent[] = [];
  let next = '';
  for (;;) {
    const path: string = `/workspaces/${workspaceId}/audit?limit=500${next}${query}`;
    const { status, body }: Answer<AuditPage> = await user.get(path);
    if (status !== 200) throw new Error(`audit: ${status} ${JSON.stringify(body)}`);
    events.push(...body.events);
    if (body.nextCursor === null) return events;
    next = `&cursor=${body.nextCursor}`;
  }
}

/** The trail without the events of whole turns, for tests that list those of calls and files. */
export async function readCallTrail(user: TestUser, workspaceId: string, query = ''): Promise<AuditEvent[]> {
  return (await readTrail(user, workspaceId, query)).filter((event) => !isOfTurn(event));
}

/**
 * Checks what can be seen from outside: one terminal record a call and a turn, a trail without gaps [AUDIT-1], nothing of
 * another user's clients [RELAY-6], and the trail alone rebuilds the state of every call and turn. Throws where one of
 * them does not hold.
 */
export async function checkInvariants(user: TestUser, workspaceId: string): Promise<void> {
  for (;;) {
    const trail = await readTrail(user, workspaceId);
    const fault = await checkTrail(user, workspaceId, trail).then(
      () => null,
      (error: Error) => error,
    );
    if (fault === null) return;
    // The trail is read before the turns: only of a trail that stood still meanwhile is the fault one.
    if ((await readTrail(user, workspaceId)).length === trail.length) throw fault;
  }
}

async function checkTrail(user: TestUser, workspaceId: string, trail: AuditEvent[]): Promise<void> {
  trail.forEach((event, at) => {
    assert(event.seq === at + 1, `event ${at + 1} of the trail has seq ${event.seq}`);
  });
  assert(new Set(trail.map(({ eventId }) => eventId)).size === trail.length, 'an event is there twice');
  const calls = replay(trail);
  for (const [, turn] of groupByTurn(trail)) {
    const rebuiltTurn = replayTurn(turn);
    const { sessionId, turnId, actor } = turn[0]!;
    if (actor.userId !== user.id) continue;
    const path = `/workspaces/${workspaceId}/sessions/${sessionId}/turns/${turnId}`;
    const { body } = await user.get<InvokeResult<TurnResult>>(path);
    const { status } = body.result;
    assert(rebuiltTurn === status, `the trail says ${rebuiltTurn} of turn ${turnId}, the turn ${status}`);
    for (const call of [...body.result.toolCalls, ...body.result.toolResults]) {
      const rebuilt = calls.get(call.callId);
      assert(
        rebuilt === call.status,
        `the trail says ${rebuilt} of ${call.toolCallId}, the turn ${call.status}`,
      );
    }
  }
}

function replay(trail: AuditEvent[]): Map<string, CallStatus> {
  const calls = new Map<string, CallStatus>();
  const ended = new Set<string>();
  for (const event of trail) {
    const step = event.name.split('.')[2] as AuditStep;
    const callId = event.callId;
    if (callId === null || !(step in STATUS_AFTER)) continue;
    const next = STATUS_AFTER[step];
    if (next === null) continue;
    assert(!ended.has(callId), `${event.name} after the end of ${callId}`);
    if (FINAL.includes(step)) ended.add(callId);
    calls.set(callId, next(event));
  }
  return calls;
}

/** The status of a turn, of whose events the first says that it was accepted, and the last but for what came late that it ended. */
function replayTurn(events: readonly AuditEvent[]): TurnResult['status'] {
  const steps = events.filter((event) => isOfTurn(event) || changesCall(event));
  const { turnId } = events[0]!;
  const names = steps.map(({ name }) => name);
  assert(
    names.indexOf('Turn.Accepted') === 0,
    `turn ${turnId} does not begin with Turn.Accepted: ${names.join()}`,
  );
  const [end, ...more] = steps.filter(({ name }) => /^Turn\.(?:Completed|Cancelled)$/.test(name));
  if (end === undefined) return 'open';
  assert(more.length === 0, `turn ${turnId} ended twice`);
  assert(end === steps.at(-1), `turn ${turnId} went on after its end: ${names.join()}`);
  const statuses = [...replay([...events]).values()];
  for (const [status, count] of Object.entries(end.fields.outcomes as { [status: string]: number })) {
    const counted = statuses.filter((one) => one === status).length;
    assert(
      counted === count,
      `turn ${turnId} counts ${count} of ${status}, its calls are ${statuses.join()}`,
    );
  }
  return end.name === 'Turn.Cancelled' ? 'cancelled' : 'completed';
}

function changesCall({ name, callId }: AuditEvent): boolean {
  return callId !== null && (STATUS_AFTER[name.split('.')[2] as AuditStep] ?? null) !== null;
}

function groupByTurn(trail: AuditEvent[]): Map<string, AuditEvent[]> {
  const turns = new Map<string, AuditEvent[]>();
  for (const event of trail) {
    if (event.turnId === null) continue;
    const key = `${event.sessionId}/${event.turnId}`;
    turns.set(key, [...(turns.get(key) ?? []), event]);
  }
  return turns;
}

function assert(holds: boolean, message: string): void {
  if (!holds) throw new Error(`Invariant broken: ${message}`);
}
