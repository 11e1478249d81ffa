const STATE = 'src/turns/turn-state.ts';
const REPORTS = 'src/turns/call-reports.ts';
const DRAFT = 'src/turns/turn-draft.ts';
const MAILBOX = 'src/turns/turn-mailbox.ts';
const OPEN = 'src/turns/open-turns.ts';
const DEADLINES = 'src/turns/deadlines.ts';
const BUDGET = 'src/turns/result-budget.ts';
const WAITERS = 'src/turns/turn-waiters.ts';
const ORDER = 'src/turns/server-order.ts';

const STEPS = 'src/turns/turn-state.spec.ts';
const CLOCKS = 'src/turns/turn-state-clocks.spec.ts';
const HOLDERS = 'src/turns/turn-state-holders.spec.ts';
const SEVERAL = 'src/turns/turn-state-several-calls.spec.ts';
const PROPERTIES = 'src/turns/turn-state.properties.spec.ts';
const APPROVALS = 'src/turns/turn-approvals.spec.ts';
const LETTERS = 'src/turns/turn-mailbox.spec.ts';
const OPEN_TURNS = 'src/turns/open-turns.spec.ts';
const BUDGETS = 'test/e2e/turn-budgets.spec.ts';
const TURNS = 'test/e2e/turns.spec.ts';
const RACES = 'test/e2e/turn-races.spec.ts';
const WAITED = 'src/turns/turn-waiters.spec.ts';

/** @type {import('./fault.js').Fault[]} */
export const FAULTS = [
  {
    name: 'a call that waits after a refusal is claimed before its pause is over',
    file: STATE,
    find: `call.status !== 'pending' || (call.retryAt !== null && call.retryAt > draft.now)`,
    replace: `call.status !== 'pending'`,
    specs: [HOLDERS],
  },
  {
    name: 'a call of a bound client is given to another after its silence',
    file: STATE,
    find: `draft.turn.boundClientId === null ? draft.now + ackWithinMs : null`,
    replace: `draft.now + ackWithinMs`,
    specs: [STEPS, CLOCKS, HOLDERS],
  },
  {
    name: 'a second delivery has the attempt of the first',
    file: STATE,
    find: `attempt: call.attempt + 1,`,
    replace: `attempt: Math.max(call.attempt, 1),`,
    specs: [STEPS, CLOCKS],
  },
  {
    name: 'a claim forgets which client the session used',
    file: STATE,
    find: `  draft.lastClientId = clientId;\n`,
    replace: ``,
    specs: [HOLDERS],
  },
  {
    name: 'a later claim changes the folder that the session began with',
    file: STATE,
    find: `draft.folder ??= folder;`,
    replace: `draft.folder = folder;`,
    specs: [STEPS, SEVERAL, HOLDERS],
  },
  {
    name: 'another client than the holder moves a call',
    file: STATE,
    find: `  if (!holds(call, clientId)) return draft.refuse('CONFLICT', 'This client does not hold the call.');\n`,
    replace: ``,
    specs: [STEPS, HOLDERS, PROPERTIES],
  },
  {
    name: 'a client says that it runs what the server is to run',
    file: STATE,
    find: `if (status === 'running' && call.needsApproval) {`,
    replace: `if (false) {`,
    specs: [APPROVALS],
  },
  {
    name: 'a call goes back a step',
    file: STATE,
    find: `if (PROGRESS.indexOf(status) > PROGRESS.indexOf(call.status)) reach(draft, call, clientId, status, note);`,
    replace: `if (status !== call.status) reach(draft, call, clientId, status, note);`,
    specs: [STEPS, PROPERTIES],
  },
  {
    name: 'the time to decide begins anew with each step',
    file: STATE,
    find: `approvalAt: call.approvalAt ?? draft.now + approvalMs,`,
    replace: `approvalAt: draft.now + approvalMs,`,
    specs: [CLOCKS],
  },
  {
    name: 'a refusal of an earlier delivery takes a later one back',
    file: STATE,
    find: ` || call.attempt !== attempt) return;`,
    replace: `) return;`,
    specs: [STEPS, HOLDERS],
  },
  {
    name: 'a refused call goes to the client that refused it first',
    file: STATE,
    find: `{ retryAt, refusedBy: clientId }`,
    replace: `{ retryAt }`,
    specs: [HOLDERS],
  },
  {
    name: 'a client that leaves takes an acknowledged call with it',
    file: STATE,
    find: `      call.status === 'forwarded' &&\n      call.clientId === clientId &&`,
    replace: `      isInFlight(call) &&\n      call.clientId === clientId &&`,
    specs: [CLOCKS, HOLDERS],
  },
  {
    name: 'a second leave puts off the first one’s release',
    file: STATE,
    find: `(call.releaseAt ?? Infinity) > releaseAt`,
    replace: `true`,
    specs: [HOLDERS],
  },
  {
    name: 'a running call that its client lost is run again',
    file: STATE,
    find: `if (call.status !== 'running') return draft.release(`,
    replace: `if (true) return draft.release(`,
    specs: [STEPS, HOLDERS, PROPERTIES],
  },
  {
    name: 'a journal’s word is taken for a call that was never sent',
    file: STATE,
    find: `call.status === 'pending' && call.attempt > 0;`,
    replace: `call.status === 'pending';`,
    specs: [HOLDERS, STEPS],
  },
  {
    name: 'a client resumes a released call that is bound to another',
    file: STATE,
    find: `const free = wasSent && (boundClientId === null || boundClientId === clientId);`,
    replace: `const free = wasSent;`,
    specs: [HOLDERS, STEPS],
  },
  {
    name: 'a cancel ends what had ended',
    file: STATE,
    find: `named.filter(({ status }) => !isFinal(status))`,
    replace: `named`,
    specs: [STEPS, SEVERAL, PROPERTIES],
  },
  {
    name: 'a cancel of one call cancels the turn',
    file: STATE,
    find: `if (toolCallId === null) draft.markCancelled();`,
    replace: `draft.markCancelled();`,
    specs: [SEVERAL, STEPS],
  },
  {
    name: 'a node that begins ends what another node runs',
    file: STATE,
    find: `  if (draft.turn.lease !== null && draft.turn.lease.owner !== node) return;\n`,
    replace: ``,
    specs: [STEPS, CLOCKS, APPROVALS],
  },
  {
    name: 'what a dead node ran never ends',
    file: STATE,
    find: `if ((draft.turn.lease?.until ?? Infinity) <= draft.now) interrupt(draft, call);`,
    replace: ``,
    specs: [CLOCKS, APPROVALS],
  },
  {
    name: 'a deadline that is due in this very millisecond is missed',
    file: STATE,
    find: `deadline !== null && deadline <= draft.now`,
    replace: `deadline !== null && deadline < draft.now`,
    specs: [CLOCKS],
  },
  {
    name: 'a late result changes nothing in the trail',
    file: REPORTS,
    find: `  if (objection)
    draft.record(objection.ok ? 'DuplicateResult' : 'LateResult', call, clientId, report.summary);
  else if`,
    replace: `  if (objection) return draft.answer;
  else if`,
    specs: [STEPS],
  },
  {
    name: 'a result that is posted twice is a conflict',
    file: REPORTS,
    find: `  if ((call.approved?.digest ?? call.reportDigest) === report.digest) return { ok: true, duplicate: true };\n`,
    replace: ``,
    specs: [STEPS],
  },
  {
    name: 'a stranger’s report is taken for a call that was released',
    file: REPORTS,
    find: `clientId === null ? false : call.clientId !== clientId`,
    replace: `clientId === null || call.clientId === null ? false : call.clientId !== clientId`,
    specs: [HOLDERS, STEPS],
  },
  {
    name: 'the orchestrator reports on a call that is the server’s',
    file: REPORTS,
    find: `call.location === 'server' && (!call.needsApproval || clientId === null)`,
    replace: `call.location === 'server' && !call.needsApproval && clientId !== null`,
    specs: [APPROVALS, STEPS, 'test/e2e/posted-results.spec.ts'],
  },
  {
    name: 'one report that cannot be taken lets the others in',
    file: REPORTS,
    find: `of refused.length > 0 ? refused : named)`,
    replace: `of named)`,
    specs: [SEVERAL, 'test/e2e/posted-results.spec.ts'],
  },
  {
    name: 'an approved edit is free of the turn’s budget',
    file: REPORTS,
    find: `  draft.resultRoom -= bytes;\n  const next`,
    replace: `  const next`,
    specs: [APPROVALS, 'test/e2e/result-approvals.spec.ts'],
  },
  {
    name: 'results take nothing from the turn’s budget',
    file: REPORTS,
    find: `  draft.resultRoom -= taken.bytes;\n`,
    replace: ``,
    specs: [SEVERAL, BUDGETS],
  },
  {
    name: 'a result whose bytes are over the budget counts as succeeded',
    file: REPORTS,
    find: `const became = taken === report ? status : 'failed';`,
    replace: `const became = status;`,
    specs: [SEVERAL, BUDGETS],
  },
  {
    name: 'a result that just fits the room of its turn is refused',
    file: BUDGET,
    find: `if (report.bytes <= room) return report;`,
    replace: `if (report.bytes < room) return report;`,
    specs: [SEVERAL, BUDGETS],
  },
  {
    name: 'a turn whose calls have all ended stays open',
    file: DRAFT,
    find: `this.calls.every(({ endedAt }) => endedAt !== null)`,
    replace: `this.calls.every(({ endedAt }) => endedAt === null)`,
    specs: [STEPS],
  },
  {
    name: 'another node takes over the lease of one that lives',
    file: DRAFT,
    find: `!this.isRunning || (this.lease !== null && this.lease.owner !== lease.owner)`,
    replace: `!this.isRunning`,
    specs: [CLOCKS, STEPS, APPROVALS],
  },
  {
    name: 'a released call keeps the time of its release',
    file: DRAFT,
    find: `      status: 'pending',
      clientId: null,
      releaseAt: null,`,
    replace: `      status: 'pending',
      clientId: null,`,
    specs: [CLOCKS, PROPERTIES],
  },
  {
    name: 'a call that has ended still wakes its turn',
    file: DEADLINES,
    find: `  if (isFinal(call.status)) return Infinity;\n`,
    replace: ``,
    specs: [CLOCKS, PROPERTIES],
    equivalent:
      'a call that ends keeps neither releaseAt nor retryAt, `deadlineOf` gives none for it, and it is not executing: the line only saves the looking',
  },
  {
    name: 'nothing wakes a turn at the end of a lease',
    file: DEADLINES,
    find: `call.status === 'executing' ? (lease?.until ?? Infinity) : Infinity`,
    replace: `Infinity`,
    specs: [CLOCKS, PROPERTIES],
  },
  {
    name: 'a deadline that goes away is still what the turn waits for',
    file: DEADLINES,
    find: `    if (dueOf(before.calls[at]!, lease) <= was) return nextDueAt(calls, lease);\n`,
    replace: ``,
    specs: [PROPERTIES],
  },
  {
    name: 'two inputs of one tick are two writes that overlap',
    file: MAILBOX,
    find: `    if (this.writing) return;\n    this.writing = true;`,
    replace: `    this.writing = true;`,
    specs: [LETTERS],
  },
  {
    name: 'a letter has the time of its writing',
    file: MAILBOX,
    find: `advance(folded.turn, input, at, this.node)`,
    replace: `advance(folded.turn, input, this.now(), this.node)`,
    specs: [LETTERS],
  },
  {
    name: 'a save that another node was faster than counts as done',
    file: MAILBOX,
    find: `if (turn !== before) return this.store.save(before, turn, results, events);`,
    replace: `if (turn !== before) await this.store.save(before, turn, results, events);`,
    specs: [LETTERS],
  },
  {
    name: 'a failed write leaves its senders without an answer',
    file: MAILBOX,
    find: `batch.forEach((letter) => letter.reject(error));`,
    replace: ``,
    specs: [LETTERS],
  },
  {
    name: 'an event that changes no state is not recorded',
    file: MAILBOX,
    find: `    if (events.length > 0) await this.store.record(turn.workspaceId, events);\n`,
    replace: ``,
    specs: [LETTERS, TURNS],
  },
  {
    name: 'a state that is read during a write is told before it',
    file: MAILBOX,
    find: `if (this.writing) this.seen = turn;\n    else this.moveTo(turn);`,
    replace: `this.moveTo(turn);`,
    specs: [LETTERS],
  },
  {
    name: 'an older state takes the place of a newer one',
    file: MAILBOX,
    find: `    if (turn.version <= before.version) return;\n`,
    replace: ``,
    specs: [LETTERS, RACES],
  },
  {
    name: 'a turn that is gone is never noticed by who looks for a newer state',
    file: MAILBOX,
    find: `version === null || version > `,
    replace: `version !== null && version > `,
    specs: [LETTERS],
  },
  {
    name: 'a lazy step waits for ever',
    file: MAILBOX,
    find: `setTimeout(() => void this.drain(), LAZY_MS)`,
    replace: `setTimeout(() => {}, LAZY_MS)`,
    specs: [LETTERS],
  },
  {
    name: 'the next deadline of a changed turn has no timer',
    file: OPEN,
    find: `    if (entry) this.schedule(entry, after);\n`,
    replace: ``,
    specs: [OPEN_TURNS],
  },
  {
    name: 'a turn that another node has ended is kept for ever',
    file: OPEN,
    find: `if (turn.status !== 'open') return this.close(turn);`,
    replace: `if (turn.status !== 'open') return;`,
    specs: [OPEN_TURNS],
  },
  {
    name: 'calls of a turn that has ended are still found by their ids',
    file: OPEN,
    find: `    for (const { callId } of turn.calls) this.byCall.delete(callId);\n`,
    replace: ``,
    specs: [OPEN_TURNS],
  },
  {
    name: 'a turn is loaded twice at once, into two mailboxes',
    file: OPEN,
    find: `    if (pending) return pending;\n`,
    replace: ``,
    specs: [OPEN_TURNS],
  },
  {
    name: 'a call of the server runs before one that still waits for a person',
    file: ORDER,
    find: `|| !draft.runOn(node)) return;`,
    replace: `|| !draft.runOn(node)) continue;`,
    specs: [APPROVALS, PROPERTIES],
  },
  {
    name: 'a call that runs is begun once more',
    file: ORDER,
    find: ` || call.status === 'executing') continue;`,
    replace: `) continue;`,
    specs: [APPROVALS, SEVERAL, PROPERTIES],
  },
  {
    name: 'who waits is not told when the server stops',
    file: WAITERS,
    find: `for (const waiters of this.waiting.values()) waiters.forEach((wake) => wake(null));`,
    replace: ``,
    specs: [WAITED],
  },
  {
    name: 'a place among the waiting is never given back',
    file: WAITERS,
    find: `      if (left > 0) this.places.set(userId, left);
      else this.places.delete(userId);`,
    replace: ``,
    specs: [WAITED],
  },
];
