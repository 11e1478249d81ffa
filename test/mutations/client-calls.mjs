const RUNNER = 'packages/client/src/relay/call-runner.ts';
const SENDER = 'packages/client/src/relay/result-sender.ts';
const ANSWERED = 'packages/client/src/relay/until-answered.ts';
const SETTLE = 'packages/client/src/relay/settle-interrupted.ts';
const CONNECTION = 'packages/client/src/relay/relay-connection.ts';
const CLIENT = 'packages/client/src/relay/relay-client.ts';

const CALLS = 'packages/client/src/relay/relay-client-calls.spec.ts';
const STARTS = 'packages/client/src/relay/relay-client-starts.spec.ts';
const RESULTS = 'packages/client/src/relay/relay-client-results.spec.ts';
const RESTARTS = 'packages/client/src/relay/relay-client-restarts.spec.ts';
const CONNECTS = 'packages/client/src/relay/relay-client-connection.spec.ts';
const RUNS = 'packages/client/src/relay/call-runner.spec.ts';
const SENDS = 'packages/client/src/relay/result-sender.spec.ts';
const PUTS = 'packages/client/src/relay/until-answered.spec.ts';

/** @type {import('./fault.js').Fault[]} */
export const FAULTS = [
  {
    name: 'a cancel forgets a finished, unacknowledged call, and its result is lost',
    file: RUNNER,
    find: `else if (this.journal.get(callId)?.state !== 'finished') await`,
    replace: `else await`,
    specs: [CALLS],
  },
  {
    name: 'a cancel stops a call whose outcome is known and not yet reported',
    file: RUNNER,
    find: `    if (this.isSettled(callId)) return { ok: true };`,
    replace: ``,
    specs: [RESTARTS],
  },
  {
    name: 'a cancel of a call that has not begun leaves it in the journal',
    file: RUNNER,
    find: `!== 'finished') await this.journal.forget([callId]);`,
    replace: `!== 'finished') await Promise.resolve();`,
    specs: [RUNS],
  },
  {
    name: 'closing stops a call that runs',
    file: RUNNER,
    find: `if (this.journal.get(callId)?.state !== 'running') controller.abort(`,
    replace: `controller.abort(`,
    specs: [CONNECTS],
    only: 'closing',
  },
  {
    name: 'a client that closes takes calls',
    file: RUNNER,
    find: `    if (this.closing) return refusal('UNAVAILABLE', CLOSING);`,
    replace: ``,
    specs: [CONNECTS],
    only: 'closing',
  },
  {
    name: 'a call that is cancelled while the journal notes its start changes something',
    file: RUNNER,
    find: `        signal.throwIfAborted();
        live.startedAt`,
    replace: `        live.startedAt`,
    specs: [STARTS],
  },
  {
    name: 'a call is noted as started before the server has said that it is here',
    file: RUNNER,
    find: `        await this.confirm(live, (timeoutMs) => send('running', timeoutMs));
        await this.journal.start(callId, approval, basis);`,
    replace: `        await this.journal.start(callId, approval, basis);
        await this.confirm(live, (timeoutMs) => send('running', timeoutMs));`,
    specs: [STARTS],
  },
  {
    name: 'a call starts without the word of the server',
    file: RUNNER,
    find: `        await this.confirm(live, (timeoutMs) => send('running', timeoutMs));`,
    replace: `        void this.confirm(live, (timeoutMs) => send('running', timeoutMs));`,
    specs: [STARTS],
  },
  {
    name: 'a call starts although the server says that it is not here',
    file: RUNNER,
    find: `    if (!ack.ok) controller.abort(new Error(ack.error.message));`,
    replace: ``,
    specs: [STARTS],
  },
  {
    name: 'a call that waits for the word of the server cannot be cancelled',
    file: RUNNER,
    find: `{ timeoutMs: Infinity, signal });`,
    replace: `{ timeoutMs: Infinity });`,
    specs: [STARTS],
  },
  {
    name: 'a call starts once it waited long enough for the word of the server',
    file: RUNNER,
    find: `    if (!ack.ok) controller.abort(new Error(ack.error.message));
    signal.throwIfAborted();`,
    replace: `    if (!ack.ok) controller.abort(new Error(ack.error.message));`,
    specs: [STARTS],
  },
  {
    name: 'a start that the journal could not note goes on',
    file: RUNNER,
    find: `        await this.journal.start(callId, approval, basis);`,
    replace: `        await this.journal.start(callId, approval, basis).catch(() => {});`,
    specs: [RUNS],
  },
  {
    name: 'a call that is delivered again runs again',
    file: RUNNER,
    find: `    if (live.done) return;`,
    replace: ``,
    specs: [CALLS],
  },
  {
    name: 'a delivery is acknowledged that is not in the journal yet',
    file: RUNNER,
    find: `      const { entry } = await this.journal.receive(call);
      this.begin(live, entry);`,
    replace: `      void this.journal.receive(call).then(({ entry }) => this.begin(live, entry));`,
    specs: [CALLS],
  },
  {
    name: 'calls that the journal could not take count as held, until the client seems full',
    file: RUNNER,
    find: `      if (!live.done) this.live.delete(call.callId);`,
    replace: ``,
    specs: [RUNS],
  },
  {
    name: 'calls that have ended count as held, until the client seems full',
    file: RUNNER,
    find: `        .finally(() => this.live.delete(entry.callId));`,
    replace: `;`,
    specs: [CALLS, RESULTS],
  },
  {
    name: 'a full client refuses a call that it has',
    file: RUNNER,
    find: `    if (this.live.has(callId) || this.journal.get(callId)) return false;`,
    replace: ``,
    specs: [CALLS],
  },
  {
    name: 'a finished call is refused where it comes again to a client that is full',
    file: RUNNER,
    find: `this.live.has(callId) || this.journal.get(callId)) return`,
    replace: `this.live.has(callId)) return`,
    specs: [RUNS],
  },
  {
    name: 'a client takes calls that its journal has no room for',
    file: RUNNER,
    find: ` || this.journal.isFull;`,
    replace: `;`,
    specs: [RUNS],
  },
  {
    name: 'a resume forgets a call that runs, and its result is lost',
    file: RUNNER,
    find: `!this.live.has(callId) && !this.withheld.has(callId)`,
    replace: `!this.withheld.has(callId)`,
    specs: [RUNS],
  },
  {
    name: 'a resume forgets a result that it has left out',
    file: RUNNER,
    find: `!this.live.has(callId) && !this.withheld.has(callId)`,
    replace: `!this.live.has(callId)`,
    specs: [RESULTS],
  },
  {
    name: 'a result that the server has refused for good is kept when the server forgets the call',
    file: RUNNER,
    find: ` && !this.results.isKept(callId)`,
    replace: ``,
    specs: [RUNS],
  },
  {
    name: 'a call that the server does not wait for any more asks a person on',
    file: RUNNER,
    find: `      this.live.get(callId)?.controller.abort(new Error('The server no longer waits for the call.'));`,
    replace: ``,
    specs: [CALLS],
  },
  {
    name: 'a resume begins a call that runs once more',
    file: RUNNER,
    find: `if (entry && !this.live.has(callId)) this.begin`,
    replace: `if (entry) this.begin`,
    specs: [RUNS],
  },
  {
    name: 'what an interrupted call has come to is not reported where the server forgot the call',
    file: RUNNER,
    find: `of [...answer.resume, ...settled]`,
    replace: `of answer.resume`,
    specs: [RESTARTS],
  },
  {
    name: 'results that a resume has left out are not sent',
    file: RUNNER,
    find: `    }
    this.results.flushAll();
  }

  /** Resolves when no`,
    replace: `    }
  }

  /** Resolves when no`,
    specs: [RESULTS],
  },
  {
    name: 'a client that closes forgets the calls that have not started',
    file: RUNNER,
    find: `      if (signal.reason instanceof ClientClosing || error instanceof ClientClosing) return;`,
    replace: ``,
    specs: [RESTARTS],
  },
  {
    name: 'a client that closes reports a call as failed that was to go on at the next start',
    file: RUNNER,
    find: `signal.reason instanceof ClientClosing || error instanceof ClientClosing`,
    replace: `signal.reason instanceof ClientClosing`,
    specs: [PUTS],
  },
  {
    name: 'a call that was cancelled in time stays in the journal',
    file: RUNNER,
    find: `return this.journal.forget([call.callId]);`,
    replace: `return;`,
    specs: [CALLS],
  },
  {
    name: 'an abort of the handler itself is taken for a cancel, and nobody is told',
    file: RUNNER,
    find: `  if (!signal.aborted) return false;`,
    replace: ``,
    specs: [RUNS],
  },
  {
    name: 'a handler that fails while its call is cancelled is taken for one that stopped',
    file: RUNNER,
    find: `  return error === signal.reason || (error instanceof Error && error.name === 'AbortError');`,
    replace: `  return true;`,
    specs: [RUNS],
  },
  {
    name: 'a result is sent that is not in the journal',
    file: RUNNER,
    find: `    await this.journal.finish(call.callId`,
    replace: `    void this.journal.finish(call.callId`,
    specs: [CALLS],
  },
  {
    name: 'a result waits for the next connection',
    file: RUNNER,
    find: `executionMs: measured });
    this.results.flush();`,
    replace: `executionMs: measured });`,
    specs: [CALLS],
  },
  {
    name: 'a call that has started and failed is told as one that did nothing',
    file: RUNNER,
    find: `    const hadStarted = entry?.state === 'running';`,
    replace: `    const hadStarted = false;`,
    specs: [CALLS],
  },
  {
    name: 'a call that had started runs again after a restart',
    file: RUNNER,
    find: `    const isNew = entry.state !== 'running';`,
    replace: `    const isNew = true;`,
    specs: [RESTARTS],
  },
  {
    name: 'a function runs a call again that had started',
    file: RUNNER,
    find: `    if (!isNew) throw new Error('It was stopped while it ran the call.');`,
    replace: ``,
    specs: [RESTARTS],
  },
  {
    name: 'a client that was replaced waits for an upload for ever',
    file: RUNNER,
    find: `    this.over.abort(new ClientClosing(reason));`,
    replace: ``,
    specs: [PUTS],
  },
  {
    name: 'a client that was replaced runs what has not started',
    file: RUNNER,
    find: `    this.dropUnstarted();
    const settled`,
    replace: `    const settled`,
    specs: [STARTS],
  },
  {
    name: 'closing does not wait for what has started',
    file: RUNNER,
    find: `Promise.all([...this.live.values()].map(async ({ done }) => done))`,
    replace: `Promise.resolve()`,
    specs: [CONNECTS],
    only: 'closing',
  },
  {
    name: 'closing does not wait for the results of what has ended',
    file: RUNNER,
    find: `.then(() =>
      this.flushed(),
    );`,
    replace: `;`,
    specs: [CONNECTS],
    only: 'closing',
  },
  {
    name: 'closing waits for a call that does not end',
    file: RUNNER,
    find: `    await Promise.race([settled, new Promise((resolve) => idleTimeout(() => resolve(undefined), graceMs))]);`,
    replace: `    await settled;`,
    specs: [RUNS],
  },
  {
    name: 'a status is told of the first delivery of a call that came again',
    file: RUNNER,
    find: `this.journal.get(callId)?.attempt ?? 1`,
    replace: `1`,
    specs: [RUNS],
  },
  {
    name: 'the next resume does not know that a person is asked',
    file: RUNNER,
    find: `        await this.journal.awaitApproval(callId);`,
    replace: ``,
    specs: [RUNS],
  },
  {
    name: 'a person is asked about a call that was cancelled',
    file: RUNNER,
    find: `        signal.throwIfAborted();
        await this.journal.awaitApproval(callId);`,
    replace: `        await this.journal.awaitApproval(callId);`,
    specs: [RUNS],
  },
  {
    name: 'the time that a person took counts as time of the call',
    file: RUNNER,
    find: `        live.startedAt = Date.now();`,
    replace: ``,
    specs: [RUNS],
  },
  {
    name: 'more results at a time are sent than a server takes',
    file: SENDER,
    find: `      if (this.stopped || this.sending.size >= MAX_IN_FLIGHT) return;`,
    replace: `      if (this.stopped) return;`,
    specs: [SENDS],
  },
  {
    name: 'a result is sent twice at once',
    file: SENDER,
    find: `    if (!isWaiting || this.sending.has(callId)) return null;`,
    replace: `    if (!isWaiting) return null;`,
    specs: [SENDS],
  },
  {
    name: 'results after the first eight are not sent',
    file: SENDER,
    find: `        this.sending.delete(entry.callId);
        this.flush();`,
    replace: `        this.sending.delete(entry.callId);`,
    specs: [RESULTS],
  },
  {
    name: 'a result is forgotten to which no answer came',
    file: SENDER,
    find: `    } catch {
      this.lose`,
    replace: `    } catch {
      await this.forget(callId);
      this.lose`,
    specs: [RESULTS],
  },
  {
    name: 'a result that breaks its schema is forgotten, and the call runs again',
    file: SENDER,
    find: `  VALIDATION_ERROR: 'keep',`,
    replace: `  VALIDATION_ERROR: 'forget',`,
    specs: [RESULTS],
  },
  {
    name: 'a result that came too late is sent for ever',
    file: SENDER,
    find: `  LATE_RESULT: 'forget',`,
    replace: ``,
    specs: [RESULTS],
  },
  {
    name: 'a result that was refused twice is not sent again on this connection',
    file: SENDER,
    find: `        this.resend = undefined;`,
    replace: ``,
    specs: [SENDS],
  },
  {
    name: 'a result is sent again sooner than the server has asked for',
    file: SENDER,
    find: `Math.max(RESEND_MS, retryAfterMs ?? 0)`,
    replace: `RESEND_MS`,
    specs: [SENDS],
  },
  {
    name: 'a result that was not taken waits for the next connection',
    file: SENDER,
    find: `    this.paused.clear();`,
    replace: ``,
    specs: [RESULTS],
  },
  {
    name: 'a client that closes leaves while results are still sent',
    file: SENDER,
    find: `    while (this.sending.size > 0) await Promise.all(this.sending.values());`,
    replace: `    if (this.sending.size > 0) await Promise.race(this.sending.values());`,
    specs: [SENDS],
  },
  {
    name: 'a large result on which the connection breaks breaks it for ever',
    file: SENDER,
    find: `    if (lost + 1 >= LARGE_LOSSES) this.shorten(entry);`,
    replace: `    if (lost >= 1000) this.shorten(entry);`,
    specs: [RESULTS],
  },
  {
    name: 'a small result that is lost often is reported as too large',
    file: SENDER,
    find: `    if (jsonBytes(report) < LARGE_BYTES) return;`,
    replace: ``,
    specs: [SENDS],
  },
  {
    name: 'results are sent after the client has closed its journal',
    file: SENDER,
    find: `      if (this.stopped || this.sending`,
    replace: `      if (this.sending`,
    specs: [SENDS],
  },
  {
    name: 'an answer of a server that is busy is taken for its last word',
    file: ANSWERED,
    find: `new Set(['UNAVAILABLE', 'RATE_LIMITED', 'INTERNAL_ERROR'])`,
    replace: `new Set(['UNAVAILABLE', 'INTERNAL_ERROR'])`,
    specs: [PUTS],
  },
  {
    name: 'what is put is tried for ever',
    file: ANSWERED,
    find: `    if (left <= 0) return refused ?? unanswered(timeoutMs);`,
    replace: ``,
    specs: [PUTS],
  },
  {
    name: 'the last refusal is told as no answer',
    file: ANSWERED,
    find: `return refused ?? unanswered(timeoutMs);`,
    replace: `return unanswered(timeoutMs);`,
    specs: [PUTS],
  },
  {
    name: 'a server is asked again sooner than it has asked for',
    file: ANSWERED,
    find: `  const told = retryAfterOf(retryAfterSeconds) ?? 0;`,
    replace: `  const told = 0;`,
    specs: [PUTS],
  },
  {
    name: 'a pause goes on when nobody waits any more',
    file: ANSWERED,
    find: `    signal?.addEventListener('abort', end, { once: true });`,
    replace: ``,
    specs: [PUTS, STARTS],
  },
  {
    name: 'one call that cannot be settled keeps the client from connecting',
    file: SETTLE,
    find: `    } catch (error) {`,
    replace: `    } catch (error) {
      throw error;`,
    specs: [RESTARTS],
  },
  {
    name: 'a call that had not started is settled',
    file: SETTLE,
    find: `    if (state !== 'running' || !call) continue;`,
    replace: `    if (!call) continue;`,
    specs: [RESTARTS],
  },
  {
    name: 'the finding of a settled call is not waited for',
    file: SETTLE,
    find: `      await handler.settle(call, context, entry);`,
    replace: `      void handler.settle(call, context, entry);`,
    specs: [RESTARTS],
  },
  {
    name: 'the client connects before it has settled what was interrupted',
    file: CLIENT,
    find: `      await this.settle();`,
    replace: `      void this.settle();`,
    specs: [RESTARTS, CONNECTS],
  },
  {
    name: 'a client that could not open its journal can never connect',
    file: CLIENT,
    find: `      this.settled = null;
      throw error;`,
    replace: `      throw error;`,
    specs: [RESTARTS, CONNECTS],
  },
  {
    name: 'the next client finds the journal locked',
    file: CLIENT,
    find: `.then(() => this.ownJournal?.close())`,
    replace: ``,
    specs: [CONNECTS],
  },
  {
    name: 'something is sent before the resume is answered',
    file: CONNECTION,
    find: `      const entries = this.peer.entries(withResults);`,
    replace: `      this.ready = true;
      const entries = this.peer.entries(withResults);`,
    specs: [CONNECTS],
  },
  {
    name: 'what is sent between two connections is taken for sent',
    file: CONNECTION,
    find: `  private onDisconnect(reason: string): void {
    this.ready = false;`,
    replace: `  private onDisconnect(reason: string): void {`,
    specs: [RESULTS, CONNECTS],
  },
  {
    name: 'a resume with results that the server cannot take is sent for ever',
    file: CONNECTION,
    find: `      if (!isBusy(error)) this.resumesResults = false;`,
    replace: ``,
    specs: [RESULTS],
  },
  {
    name: 'a resume to a busy server leaves the results out from then on',
    file: CONNECTION,
    find: `      if (!isBusy(error)) this.resumesResults = false;`,
    replace: `      this.resumesResults = false;`,
    specs: [CONNECTS],
  },
  {
    name: 'two clients of one id replace each other for ever',
    file: CONNECTION,
    find: `    if (this.replaced) return this.end({ status: 'ended', reason: 'replaced' });`,
    replace: ``,
    specs: [CONNECTS],
  },
  {
    name: 'a client comes back sooner than a server has asked for',
    file: CONNECTION,
    find: `Math.round((retryAfterMs ?? 0) + full`,
    replace: `Math.round(full`,
    specs: [CONNECTS],
  },
  {
    name: 'a token that the server has refused is tried again',
    file: CONNECTION,
    find: `    if (this.token === this.refusedToken)
      return this.refuse(new PatchbayError('INVALID_TOKEN', 'The server refused the token.'));`,
    replace: ``,
    specs: [CONNECTS],
  },
  {
    name: 'a client that has ended connects again',
    file: CONNECTION,
    find: `  private retry(reason: string, retryAfterMs: number | null = null): void {
    if (this.ended) return;`,
    replace: `  private retry(reason: string, retryAfterMs: number | null = null): void {`,
    specs: [CONNECTS],
  },
  {
    name: 'a server that stops has its results cut off',
    file: CONNECTION,
    find: `    await Promise.race([this.peer.flushed(), grace]);`,
    replace: ``,
    specs: [CONNECTS],
  },
];
