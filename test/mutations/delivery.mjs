const DISPATCHER = 'src/delivery/dispatcher.ts';
const DELIVERIES = 'src/delivery/deliveries.ts';
const PENDING = 'src/delivery/pending-calls.ts';
const SESSIONS = 'src/delivery/session-clients.ts';
const REPORTS = 'src/delivery/client-reports.ts';
const CHECK = 'src/delivery/result-check.ts';
const UPLOADS = 'src/delivery/client-uploads.ts';
const CLIENTS = 'src/clients/connected-clients.ts';
const EFFECTS = 'src/turns/turn-effects.ts';

const DISPATCHES = 'src/delivery/dispatcher.spec.ts';
const SENDS = 'src/delivery/deliveries.spec.ts';
const USES = 'src/delivery/session-clients.spec.ts';
const CHOICES = 'src/clients/connected-clients.spec.ts';
const RELAY = 'test/e2e/relay.spec.ts';
const RESUMES = 'test/e2e/resume.spec.ts';
const DELIVERED = 'test/e2e/delivery.spec.ts';
const RESULTS = 'test/e2e/results.spec.ts';
const DECIDED = 'test/e2e/result-approvals.spec.ts';
const UPLOADED = 'test/e2e/patch-uploads.spec.ts';
const PUT = 'test/e2e/files/uploads.spec.ts';
const PATCHED = 'test/e2e/patch-round-trip.spec.ts';
const BOUNDS = 'test/e2e/resume-bounds.spec.ts';
const TURN_BUDGETS = 'test/e2e/turn-budgets.spec.ts';

/** @type {import('./fault.js').Fault[]} */
export const FAULTS = [
  {
    name: 'a node that stops goes on claiming calls',
    file: DISPATCHER,
    find: `    if (this.draining) return null;\n`,
    replace: ``,
    specs: [DISPATCHES],
  },
  {
    name: 'a reserved call takes no place in the window of its client',
    file: DISPATCHER,
    find: `    client.hold(call.callId);\n    const { clientId }`,
    replace: `    const { clientId }`,
    specs: [DISPATCHES],
  },
  {
    name: 'a claim is given free before its client could answer',
    file: DISPATCHER,
    find: `this.config.acknowledgeMs + this.config.graceMs`,
    replace: `0`,
    specs: [DISPATCHES, RELAY, DELIVERED],
  },
  {
    name: 'a claim that came to nothing keeps its place in the window',
    file: DISPATCHER,
    find: `    this.clients.free(clientKey(turn, clientId), callId);\n  }\n\n  private onChange`,
    replace: `  }\n\n  private onChange`,
    specs: [DISPATCHES],
  },
  {
    name: 'a call that has ended keeps its place in the window',
    file: DISPATCHER,
    find: `      if (was && isInFlight(was)) this.clients.free(clientKey(after, was.clientId!), was.callId);\n`,
    replace: ``,
    specs: [DISPATCHES],
  },
  {
    name: 'a call that another node claimed takes no place in the window',
    file: DISPATCHER,
    find: `      if (isInFlight(is)) this.take(after, is.callId, is.clientId!);\n`,
    replace: ``,
    specs: [DISPATCHES, RELAY],
  },
  {
    name: 'what a session used is not asked for after a restart',
    file: DISPATCHER,
    find: `    if (before === null && !own) void this.recall(after);\n`,
    replace: ``,
    specs: [DISPATCHES],
  },
  {
    name: 'calls go out before it is known what their session used',
    file: DISPATCHER,
    find: `      if (this.recalling.has(turn.sessionId)) return;\n`,
    replace: ``,
    specs: [DISPATCHES],
  },
  {
    name: 'a read of a session’s use that failed is never tried again',
    file: DISPATCHER,
    find: `      setTimeout(again, RETRY_MS).unref();
    }
  }

  /** Whoever`,
    replace: `    }
  }

  /** Whoever`,
    specs: [DISPATCHES],
  },
  {
    name: 'a call is offered before its pause is over',
    file: DISPATCHER,
    find: `({ retryAt }) => (retryAt ?? 0) <= now`,
    replace: `() => true`,
    specs: [DISPATCHES, RELAY, DELIVERED],
  },
  {
    name: 'one call that can go nowhere keeps back those of other turns',
    file: DISPATCHER,
    find: `        at += 1;`,
    replace: `        return;`,
    specs: [DISPATCHES],
  },
  {
    name: 'a claim that failed is tried no more',
    file: DISPATCHER,
    find: `      this.retry(turn, callId, clientId);`,
    replace: ``,
    specs: [DISPATCHES],
  },
  {
    name: 'a refused claim leaves its call out of the queue',
    file: DISPATCHER,
    find: `      this.pending.refused(turn, call);\n`,
    replace: ``,
    specs: [DISPATCHES],
  },
  {
    name: 'a refused claim keeps its place',
    file: DISPATCHER,
    find: `      this.release(turn, callId, clientId);\n    } catch`,
    replace: `    } catch`,
    specs: [DISPATCHES],
  },
  {
    name: 'a client that refused is asked again before others',
    file: DISPATCHER,
    find: `avoidClientId: call.refusedBy,`,
    replace: `avoidClientId: null,`,
    specs: [DISPATCHES, RELAY, DELIVERED],
  },
  {
    name: 'a call goes to a client that has not resumed',
    file: CLIENTS,
    find: `client.ready && client.tools`,
    replace: `client.tools`,
    specs: [CHOICES, DISPATCHES],
  },
  {
    name: 'a call goes to a client without its tool',
    file: CLIENTS,
    find: `client.tools.has(wish.tool) && `,
    replace: ``,
    specs: [CHOICES, DISPATCHES],
  },
  {
    name: 'a window takes one call more than it has room for',
    file: CLIENTS,
    find: `this.held.size < this.maxInFlight`,
    replace: `this.held.size <= this.maxInFlight`,
    specs: [CHOICES, DISPATCHES],
  },
  {
    name: 'a call of a bound session goes to another client',
    file: CLIENTS,
    find: `    if (wish.boundClientId !== null) return named(wish.boundClientId);\n`,
    replace: ``,
    specs: [CHOICES, DISPATCHES],
  },
  {
    name: 'a connection that was replaced takes its successor out with it',
    file: CLIENTS,
    find: `    if (clients?.get(client.key.clientId) !== client) return;\n`,
    replace: `    if (!clients) return;\n`,
    specs: [CHOICES, RELAY],
  },
  {
    name: 'who has room again is not offered what waits',
    file: CLIENTS,
    find: `if (this.find(key)?.free(callId)) this.available$.next(key);`,
    replace: `this.find(key)?.free(callId);`,
    specs: [CHOICES, DISPATCHES],
  },
  {
    name: 'a call for a folder goes to a client that has another',
    file: CLIENTS,
    find: `return roots.length > 0 ? client.hasRoots(roots) : isOfFolder(client, folder);`,
    replace: `return true;`,
    specs: [CHOICES, DISPATCHES, 'test/e2e/folder-routing.spec.ts'],
  },
  {
    name: 'the grace of a client that is back begins all the same',
    file: DELIVERIES,
    find: `    if (this.clients.find(clientKey(turn, clientId))) return;\n`,
    replace: ``,
    specs: [SENDS, RELAY, RESUMES],
  },
  {
    name: 'the calls of a client that left are never given free',
    file: DELIVERIES,
    find: `    clients.left$.subscribe((client) => void this.clientLeft(client));\n`,
    replace: ``,
    specs: [SENDS, RELAY, DELIVERED],
  },
  {
    name: 'a call for a client that has left meanwhile waits for its deadline',
    file: DELIVERIES,
    find: `      else if (own) void this.clientLeft(clientKey(turn, effect.clientId));\n`,
    replace: ``,
    specs: [SENDS],
  },
  {
    name: 'calls overtake one that takes long to be put together',
    file: DELIVERIES,
    find: `const before = this.tails.get(client) ?? Promise.resolve();`,
    replace: `const before = Promise.resolve();`,
    specs: [SENDS],
  },
  {
    name: 'a client that does not read is sent ever more',
    file: DELIVERIES,
    find: `      await client.line.room();\n`,
    replace: ``,
    specs: [SENDS],
  },
  {
    name: 'a call is sent before its client was told what to carry on',
    file: DELIVERIES,
    find: `    await delivery.client.resumed;\n`,
    replace: ``,
    specs: [SENDS, DISPATCHES],
  },
  {
    name: 'a call that was cancelled meanwhile is sent',
    file: DELIVERIES,
    find: `    if (!this.isStillDue(delivery)) return;\n`,
    replace: ``,
    specs: [SENDS],
  },
  {
    name: 'a client that does not answer keeps its line',
    file: DELIVERIES,
    find: `    if (outcome.kind === 'lost') return client.line.close();\n`,
    replace: `    if (outcome.kind === 'lost') return;\n`,
    specs: [SENDS, DELIVERED, RELAY],
  },
  {
    name: 'a call that could not be read stays with nobody',
    file: DELIVERIES,
    find: `emitted.catch((error: unknown) => this.giveBack(delivery, error))`,
    replace: `emitted.catch(() => {})`,
    specs: [SENDS],
  },
  {
    name: 'a patch is delivered without its ids',
    file: DELIVERIES,
    find: `record && record.batch)`,
    replace: `null)`,
    specs: [PATCHED, SENDS],
  },
  {
    name: 'a call that is being claimed is offered twice',
    file: PENDING,
    find: `      if (call.status === 'pending' && queue.claiming.has(call.callId)) {`,
    replace: `      if (false) {`,
    specs: [DISPATCHES],
  },
  {
    name: 'a call that comes back stands last',
    file: PENDING,
    find: `idOf(sorted[middle]!) < id`,
    replace: `idOf(sorted[middle]!) !== id`,
    specs: [DISPATCHES, RELAY],
  },
  {
    name: 'turns that have ended stay in the queue of their user',
    file: PENDING,
    find: `    if (after.status !== 'open') queue.turns.delete(turnKey(after));\n`,
    replace: ``,
    specs: ['src/delivery/pending-calls.spec.ts'],
  },
  {
    name: 'the folder of a claim that came to nothing is the session’s',
    file: SESSIONS,
    find: `if (this.uses.get(sessionId)?.reservedFor === callId) this.uses.delete(sessionId);`,
    replace: ``,
    specs: [USES],
  },
  {
    name: 'the store’s old word takes the place of what is known',
    file: SESSIONS,
    find: ` || this.uses.get(sessionId) !== undefined) return;`,
    replace: `) return;`,
    specs: [USES, DISPATCHES],
  },
  {
    name: 'a turn that was accepted later goes where an earlier use says',
    file: SESSIONS,
    find: `since !== undefined && since.at >= acceptedAt`,
    replace: `since !== undefined`,
    specs: [USES, DISPATCHES],
  },
  {
    name: 'running is acknowledged before it is written',
    file: REPORTS,
    find: `accept(await this.turns.submit(turn, input, status !== 'running'));`,
    replace: `void this.turns.submit(turn, input, status !== 'running');`,
    specs: [RELAY, RESULTS],
  },
  {
    name: 'a member reports on another member’s call',
    file: REPORTS,
    find: `turn?.workspaceId !== workspaceId || turn.userId !== userId || turn.turnId !== turnId`,
    replace: `turn?.workspaceId !== workspaceId || turn.turnId !== turnId`,
    specs: [RELAY, RESULTS, 'test/e2e/bad-events.spec.ts'],
  },
  {
    name: 'a member resumes another member’s call',
    file: REPORTS,
    find: `if (turn?.workspaceId !== client.workspaceId || turn.userId !== client.userId) continue;`,
    replace: `if (turn?.workspaceId !== client.workspaceId) continue;`,
    specs: [RESUMES, BOUNDS],
  },
  {
    name: 'a call that a journal names and nobody knows stays in it for ever',
    file: REPORTS,
    find: `    for (const callId of entries.keys()) if (!told.has(callId)) answer.forget.push(callId);\n`,
    replace: ``,
    specs: [RESUMES],
  },
  {
    name: 'calls that a journal lacks stay with their client',
    file: REPORTS,
    find: `entries.length > 0 || holdsAny(turn, client)`,
    replace: `entries.length > 0`,
    specs: [RESUMES],
  },
  {
    name: 'a resumed result that could not be checked now is taken for a bad one',
    file: REPORTS,
    find: `if (!(error instanceof DomainError && error.code === 'VALIDATION_ERROR')) throw error;`,
    replace: ``,
    specs: [RESUMES, 'test/e2e/result-messages.spec.ts', RESULTS],
  },
  {
    name: 'a result that breaks the schema of its tool is taken',
    file: CHECK,
    find: `    if (faults.length > 0) {\n      throw fieldError('result',`,
    replace: `    if (false) {\n      throw fieldError('result',`,
    specs: [RESULTS],
  },
  {
    name: 'a result over the budget of one call is kept',
    file: CHECK,
    find: `report.status === 'approved' ? report : withinCallBudget(report, this.config.maxResultBytes)`,
    replace: `report`,
    specs: [TURN_BUDGETS, RESULTS],
  },
  {
    name: 'edited arguments that break the schema are taken',
    file: CHECK,
    find: `  if (faults.length > 0) throw fieldError(EDITED,`,
    replace: `  if (false) throw fieldError(EDITED,`,
    specs: [DECIDED, RESULTS],
  },
  {
    name: 'a change that was not in the patch can be rejected',
    file: CHECK,
    find: `    await this.checkRejected(workspaceId, call, approval?.rejectedChangeIds ?? []);\n`,
    replace: ``,
    specs: [DECIDED, PATCHED],
  },
  {
    name: 'the same report sent again is another one, by its time',
    file: CHECK,
    find: `approval && { ...approval, at: undefined }`,
    replace: `approval`,
    specs: [DECIDED, RESULTS],
  },
  {
    name: 'a denied call comes with a result',
    file: CHECK,
    find: `  if (result !== null)
    throw fieldError('result', 'must be null with`,
    replace: `  if (false)
    throw fieldError('result', 'must be null with`,
    specs: [DECIDED, RESULTS],
  },
  {
    name: 'the trail keeps what a person typed into edited arguments',
    file: CHECK,
    find: `    ...subjectOf(call.name, editedArguments!),
    sha256: digestOf(editedArguments),`,
    replace: `    ...subjectOf(call.name, editedArguments!),
    sha256: digestOf(editedArguments),
    editedArguments,`,
    specs: [DECIDED, RESULTS, 'test/e2e/approvals.spec.ts'],
  },
  {
    name: 'an upload is taken whatever its bytes are',
    file: UPLOADS,
    find: `    if (sha256(content) !== digest) throw fieldError('sha256', 'is not that of content');\n`,
    replace: ``,
    specs: [UPLOADED, 'test/e2e/file-exchange.spec.ts', 'test/e2e/bad-events.spec.ts'],
  },
  {
    name: 'an upload takes part in another member’s patch',
    file: UPLOADS,
    find: `      known.record.userId !== client.userId ||\n`,
    replace: ``,
    specs: [UPLOADED],
  },
  {
    name: 'a file overtakes the step that was told before it',
    file: UPLOADS,
    find: `    await this.untilTold(file.callId?.toLowerCase() ?? null);\n`,
    replace: ``,
    specs: [PUT],
  },
  {
    name: 'an upload for a call replaces what came into the Cloud since the call was accepted',
    file: UPLOADS,
    find: `await this.uploads.headAt(workspaceId, target, own.acceptedAt)`,
    replace: `await this.uploads.headAt(workspaceId, target, Number.MAX_SAFE_INTEGER)`,
    specs: [PUT],
  },
  {
    name: 'an exact upload replaces more than the head that it names',
    file: UPLOADS,
    find: `file.isExact ? [named] : named === null`,
    replace: `named === null`,
    specs: [PUT],
  },
  {
    name: 'a client is not told to stop what the orchestrator cancelled',
    file: EFFECTS,
    find: `if (endedBy !== 'orchestrator' && endedBy !== 'clock') return null;`,
    replace: `if (endedBy !== 'clock') return null;`,
    specs: ['test/e2e/cancel.spec.ts', SENDS],
  },
  {
    name: 'a call that is forwarded once more is not sent once more',
    file: EFFECTS,
    find: `was?.status === 'forwarded' && was.attempt === attempt`,
    replace: `was?.status === 'forwarded'`,
    specs: ['src/turns/turn-effects.spec.ts'],
  },
];
