const ACCEPTANCE = 'src/turn-api/turn-acceptance.ts';
const BUILDER = 'src/turn-api/turn-builder.ts';
const ROOM = 'src/turn-api/open-room.ts';
const SERVICE = 'src/turn-api/turns.service.ts';
const CALLS = 'src/turn-api/server-calls.ts';
const ANSWERS = 'src/turn-api/turn-answers.ts';
const FLIGHT = 'src/turn-api/answers-in-flight.ts';
const DEPARTURES = 'src/turn-api/departures.ts';
const CONTROLLER = 'src/turn-api/turns.controller.ts';

const TURNS = 'test/e2e/turns.spec.ts';
const RACES = 'test/e2e/turn-races.spec.ts';
const REPEATS = 'test/e2e/turn-repeats.spec.ts';
const KEYS = 'test/e2e/idempotency-keys.spec.ts';
const TURN_CALLS = 'test/e2e/turn-calls.spec.ts';
const REQUESTS = 'test/e2e/turn-requests.spec.ts';
const BUDGETS = 'test/e2e/turn-budgets.spec.ts';
const POSTED = 'test/e2e/posted-results.spec.ts';
const APPROVALS = 'test/e2e/approvals.spec.ts';
const RESULT_APPROVALS = 'test/e2e/result-approvals.spec.ts';
const GREEDY = 'test/e2e/greedy-users.spec.ts';
const ROOMS = 'src/turn-api/open-room.spec.ts';
const SERVER_CALLS = 'src/turn-api/server-calls.spec.ts';
const LEAVERS = 'src/turn-api/departures.spec.ts';
const MEMBERS = 'test/e2e/membership.spec.ts';

/** @type {import('./fault.js').Fault[]} */
export const FAULTS = [
  {
    name: 'a turnId that stands for other calls is taken for this request',
    file: ACCEPTANCE,
    find: `  if (known.requestHash === requestHash) return known;\n`,
    replace: `  return known;\n`,
    specs: [REPEATS, TURNS, KEYS],
  },
  {
    name: 'of two requests with one key at once each makes a turn',
    file: ACCEPTANCE,
    find: `if (claim.turnId !== turnId || claim.sessionId !== session.id) {`,
    replace: `if (false) {`,
    specs: [KEYS],
  },
  {
    name: 'an Idempotency-Key of another session finds its turn',
    file: ACCEPTANCE,
    find: `    if (claim.sessionId !== sessionId) throw usedForAnother('Idempotency-Key');\n`,
    replace: ``,
    specs: [KEYS],
  },
  {
    name: 'a key and a turnId that belong to different turns are taken together',
    file: ACCEPTANCE,
    find: `    if (turnId !== null && (claim.turnId !== turnId || claim.sessionId !== sessionId)) {`,
    replace: `    if (false) {`,
    specs: [KEYS],
  },
  {
    name: 'a repeated request that finds no room is refused, though its turn is there',
    file: ACCEPTANCE,
    find: `      if ((await this.store.versionOf(ref)) === null) throw error;\n      return null;`,
    replace: `      throw error;`,
    specs: [KEYS],
  },
  {
    name: 'room that was taken for a turn is never given back',
    file: ACCEPTANCE,
    find: `    } finally {\n      giveBack();\n    }`,
    replace: `    } finally {\n    }`,
    specs: [BUDGETS],
  },
  {
    name: 'a turn over the day’s bytes keeps its room among the open ones',
    file: ACCEPTANCE,
    find: `    } catch (error) {\n      leave();\n      throw error;\n    }`,
    replace: `    } catch (error) {\n      throw error;\n    }`,
    specs: ['test/e2e/turn-bytes.spec.ts'],
  },
  {
    name: 'the places of a turn that could not be stored are never given back',
    file: ACCEPTANCE,
    find: `      this.giveBack(turn);\n      throw error;`,
    replace: `      throw error;`,
    specs: [RACES],
  },
  {
    name: 'the places of a turn that lost its race are never given back',
    file: ACCEPTANCE,
    find: `    this.giveBack(turn);\n    await Promise.all(batches`,
    replace: `    await Promise.all(batches`,
    specs: [RACES],
  },
  {
    name: 'the batch of a turn that lost its race stays',
    file: ACCEPTANCE,
    find: `    await Promise.all(batches.map(({ batchId }) => this.patches.remove(asked.workspaceId, batchId)));\n`,
    replace: ``,
    specs: [RACES],
  },
  {
    name: 'a patch batch is stored after the turn that refers to it',
    file: ACCEPTANCE,
    find: `    await Promise.all(batches.map((batch) => this.patches.insert(batch)));\n`,
    replace: `    setImmediate(() => void Promise.all(batches.map((batch) => this.patches.insert(batch))));\n`,
    specs: [RACES],
  },
  {
    name: 'a turn goes on whose user was removed while it was accepted',
    file: ACCEPTANCE,
    find: `      await this.requireMember(turn);\n      return turn;`,
    replace: `      return turn;`,
    specs: [MEMBERS],
  },
  {
    name: 'a new turn is not claimed in the write that accepts it',
    file: ACCEPTANCE,
    find: `const claim = call.status === 'pending' ? this.dispatcher.reserve(turn, call) : null;`,
    replace: `const claim = null;`,
    specs: ['test/e2e/relay-cost.spec.ts', RACES],
  },
  {
    name: 'a call runs that the workspace wants to be asked about',
    file: BUILDER,
    find: `const needsApproval = asked.has(call.name);`,
    replace: `const needsApproval = false;`,
    specs: [APPROVALS],
  },
  {
    name: 'a call runs that stands behind one which waits for a person',
    file: BUILDER,
    find: `held ||= taken.needsApproval === true && taken.status === 'pending';`,
    replace: ``,
    specs: [APPROVALS, RESULT_APPROVALS],
  },
  {
    name: 'one call at fault fails all of its turn',
    file: BUILDER,
    find: `calls.every(({ status }) => status === 'failed') ? 'completed' : 'open'`,
    replace: `calls.some(({ status }) => status === 'failed') ? 'completed' : 'open'`,
    specs: [TURN_CALLS],
  },
  {
    name: 'the details of faults are free of the turn’s budget',
    file: BUILDER,
    find: `      room -= bytes;\n      results.push`,
    replace: `      results.push`,
    specs: [BUDGETS],
  },
  {
    name: 'a node takes no lease for what it is to run',
    file: BUILDER,
    find: `const lease = runsHere ? newLease(this.node.value, now) : null;`,
    replace: `const lease = null;`,
    specs: [TURNS, 'test/e2e/nodes.spec.ts'],
  },
  {
    name: 'a session uses another client than the one it used last',
    file: BUILDER,
    find: `lastClientId: use.lastClientId,`,
    replace: `lastClientId: null,`,
    specs: ['test/e2e/relay.spec.ts', 'test/e2e/delivery.spec.ts', TURNS],
  },
  {
    name: 'a batch for two folders that no client has together waits for ever',
    file: BUILDER,
    find: `error: foldersApart(roots, origin.folders) ?? error`,
    replace: `error`,
    specs: ['test/e2e/roots.spec.ts', 'test/e2e/folder-routing.spec.ts'],
  },
  {
    name: 'what is about to be stored counts for nothing',
    file: ROOM,
    find: `    this.begin(turn, keys, calls);\n    let isTaken = true;`,
    replace: `    let isTaken = false;`,
    specs: [ROOMS],
  },
  {
    name: 'room is given back twice',
    file: ROOM,
    find: `      isTaken = false;`,
    replace: ``,
    specs: [ROOMS],
  },
  {
    name: 'room is not given back where the store could not be asked',
    file: ROOM,
    find: `      giveBack();\n      throw error;`,
    replace: `      throw error;`,
    specs: [ROOMS],
  },
  {
    name: 'two requests for one turn take its room twice',
    file: ROOM,
    find: `taken.requests === 0 ? 1 : 0, next.calls - taken.calls`,
    replace: `1, next.calls - taken.calls`,
    specs: [ROOMS],
  },
  {
    name: 'a user has one open turn more than the limit says',
    file: ROOM,
    find: `open.turns + taken.turns > limit.turns`,
    replace: `open.turns + taken.turns > limit.turns + 1`,
    specs: [ROOMS],
  },
  {
    name: 'a member posts into another member’s session',
    file: SERVICE,
    find: `const session = await this.sessions.requireOwn(workspaceId, sessionId, userId);`,
    replace: `const session = await this.sessions.require(workspaceId, sessionId);`,
    specs: ['test/e2e/access.spec.ts', TURNS],
  },
  {
    name: 'a member reads another member’s turn',
    file: SERVICE,
    find: `    await this.sessions.requireOwn(ref.workspaceId, ref.sessionId, userId);\n`,
    replace: ``,
    specs: ['test/e2e/access.spec.ts', TURNS],
  },
  {
    name: 'a member cancels another member’s turn',
    file: SERVICE,
    find: `if (role !== 'owner') return this.requireOwn(ref, userId);`,
    replace: ``,
    specs: [MEMBERS],
  },
  {
    name: 'an owner reads what goes in and comes out of a member’s turn',
    file: CONTROLLER,
    find: `return turn.userId === id ? this.answers`,
    replace: `return true ? this.answers`,
    specs: [MEMBERS],
  },
  {
    name: 'a server that stops takes turns',
    file: SERVICE,
    find: `    if (this.lifecycle.stopping.aborted) {\n      throw`,
    replace: `    if (false) {\n      throw`,
    specs: ['test/e2e/relay-stops.spec.ts'],
  },
  {
    name: 'a wait is as long as its request says',
    file: SERVICE,
    find: `    if (waitMs > this.config.maxWaitMs)\n`,
    replace: `    if (false)\n`,
    specs: [REQUESTS, TURNS],
  },
  {
    name: 'who waits takes no place among the waiting',
    file: SERVICE,
    find: `    const leave = this.waiters.enter(userId);\n    return work().finally(leave);`,
    replace: `    return work();`,
    specs: [BUDGETS],
  },
  {
    name: 'a place among the waiting is kept where the request fails',
    file: SERVICE,
    find: `work().finally(leave)`,
    replace: `work().then((done) => (leave(), done))`,
    specs: [BUDGETS],
  },
  {
    name: 'a turn is told as this node knows it, though another has changed it',
    file: SERVICE,
    find: `known !== null && (await this.store.versionOf(ref)) === known.version`,
    replace: `known !== null`,
    specs: ['test/e2e/nodes.spec.ts', RACES],
  },
  {
    name: 'a result is posted for a call of the server',
    file: SERVICE,
    find: `return call.location === 'server' ? 'is run by the server' : null;`,
    replace: `return null;`,
    specs: [POSTED],
  },
  {
    name: 'one request brings two results of one call',
    file: SERVICE,
    find: `seen.has(posted.toolCallId) ? 'is there twice' : whyNotReportable(call)`,
    replace: `whyNotReportable(call)`,
    specs: [POSTED],
  },
  {
    name: 'two nodes run one call of the server',
    file: CALLS,
    find: `    if (after.lease?.owner !== this.node.value) return;\n`,
    replace: ``,
    specs: [SERVER_CALLS, 'test/e2e/nodes.spec.ts'],
  },
  {
    name: 'what an earlier process of the node began is run again',
    file: CALLS,
    find: `const known = before ?? (own ? null : after);`,
    replace: `const known = before;`,
    specs: [SERVER_CALLS],
  },
  {
    name: 'a cancelled call of the server goes on',
    file: CALLS,
    find: `    this.stopEnded(after);\n`,
    replace: ``,
    specs: [SERVER_CALLS],
  },
  {
    name: 'a call of the server that was cancelled while it waited runs',
    file: CALLS,
    find: `if (call?.status === 'executing' && args !== undefined)`,
    replace: `if (call !== undefined && args !== undefined)`,
    specs: [SERVER_CALLS],
  },
  {
    name: 'a call of the server runs as it was posted, not as a person edited it',
    file: CALLS,
    find: `if (editedAt === undefined) return`,
    replace: `if (true) return`,
    specs: [RESULT_APPROVALS, APPROVALS],
  },
  {
    name: 'a lease is never renewed',
    file: CALLS,
    find: `setInterval(() => void this.renew(turn), this.config.catchUpMs)`,
    replace: `setInterval(() => {}, this.config.catchUpMs)`,
    specs: [SERVER_CALLS, 'test/e2e/nodes.spec.ts'],
  },
  {
    name: 'a server that has stopped goes on to renew the lease of a tool that never ends',
    file: CALLS,
    find: `    for (const renewal of this.renewals) clearInterval(renewal);\n`,
    replace: ``,
    specs: [SERVER_CALLS],
  },
  {
    name: 'a server that drains lets the lease of a running tool go',
    file: CALLS,
    find: `setInterval(() => void this.renew(turn), this.config.catchUpMs)`,
    replace: `setInterval(() => this.lifecycle.stopping.aborted || void this.renew(turn), this.config.catchUpMs)`,
    specs: [SERVER_CALLS],
  },
  {
    name: 'a call of the server runs for a user who was removed',
    file: CALLS,
    find: `      await this.shares.requireMember(turn);\n`,
    replace: ``,
    specs: [SERVER_CALLS],
  },
  {
    name: 'the end of a call of the server is lost where the store can’t take it now',
    file: CALLS,
    find: `    await persist(record, this.lifecycle.stopping, (error) =>`,
    replace: `    await record().catch((error: unknown) =>`,
    specs: [SERVER_CALLS],
  },
  {
    name: 'a result of a server tool over the budget of one call is kept',
    file: CALLS,
    find: `return withinCallBudget(await this.reportOf(turn, call, args), this.config.maxResultBytes);`,
    replace: `return this.reportOf(turn, call, args);`,
    specs: [BUDGETS],
  },
  {
    name: 'an answer that is shared has the state of another version',
    file: ANSWERS,
    find: `\${turn.version} \${format}`,
    replace: `\${format}`,
    specs: [TURN_CALLS],
  },
  {
    name: 'answers that nobody reads are free',
    file: ANSWERS,
    find: `    this.answersInFlight.take(turn, results + callArguments, sending);\n`,
    replace: ``,
    specs: [BUDGETS, GREEDY],
  },
  {
    name: 'an answer that was read counts for ever',
    file: FLIGHT,
    find: `      if (left > 0) this.bytes.set(userId, left);
      else this.bytes.delete(userId);`,
    replace: ``,
    specs: ['src/turn-api/answers-in-flight.spec.ts'],
  },
  {
    name: 'one large answer alone is refused',
    file: FLIGHT,
    find: `held > 0 && held + bytes >`,
    replace: `held + bytes >`,
    specs: ['src/turn-api/answers-in-flight.spec.ts'],
  },
  {
    name: 'a removal is looked at again for ever',
    file: DEPARTURES,
    find: `    await this.workspaces.settled(removal);\n  }`,
    replace: `  }`,
    specs: [LEAVERS],
  },
  {
    name: 'turns of a member who was added again are cancelled',
    file: DEPARTURES,
    find: `!isBack || acceptedAt <= removedAt`,
    replace: `true`,
    specs: [LEAVERS],
  },
  {
    name: 'one removal that fails holds up those behind it',
    file: DEPARTURES,
    find: `        failures.push(error);`,
    replace: `        throw error;`,
    specs: [LEAVERS],
  },
  {
    name: 'only the first hundred turns of a removed member are cancelled',
    file: DEPARTURES,
    find: `while (page.length === BATCH);`,
    replace: `while (false);`,
    specs: [LEAVERS],
  },
];
