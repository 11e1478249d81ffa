import type { RunTool } from './tool-handler.js';

import { callOf, gate, RelayClientFixture, three, until } from './relay-client.sample.js';

describe('RelayClient', () => {
  const fixture = new RelayClientFixture();
  beforeEach(() => fixture.open());
  afterEach(() => fixture.close());

  describe('a call', () => {
    it('is in the journal when it is acknowledged, runs, and is forgotten once its result is accepted', async () => {
      const { opened, open } = gate();
      await fixture.clientWith(async (call, context) => (await opened, three(call, context))).connect();
      expect(await fixture.server.deliver(callOf('1'))).toEqual({ ok: true });
      expect(fixture.journal.get('1')).toMatchObject({ state: 'acknowledged' });
      open();
      await until(() => fixture.journal.get('1') === null);
      expect(fixture.server.results).toEqual([
        { turnId: 't', callId: '1', attempt: 1, executionMs: 1, result: { words: 3 }, approval: null },
      ]);
    });

    it("reports its steps and the person's decision", async () => {
      const approval = { decision: 'allow' as const, by: 'ada', at: new Date().toISOString() };
      await fixture
        .clientWith(async (_call, context) => {
          await context.awaitApproval('Asking Ada.');
          await context.start(approval);
          return { result: 3, approval };
        })
        .connect();
      await fixture.server.deliver(callOf('1'));
      await until(() => fixture.server.results.length === 1);
      expect(fixture.server.statuses.map(({ status, note }) => [status, note])).toEqual([
        ['awaiting_approval', 'Asking Ada.'],
        ['running', undefined],
      ]);
      expect(fixture.server.results[0]!.approval).toEqual(approval);
    });

    it('runs once when it is delivered twice', async () => {
      let runs = 0;
      const { opened, open } = gate();
      await fixture
        .clientWith(async (call, context) => (runs++, await opened, three(call, context)))
        .connect();
      await Promise.all([fixture.server.deliver(callOf('1')), fixture.server.deliver(callOf('1', 2))]);
      open();
      await until(() => fixture.server.results.length === 1);
      expect(runs).toBe(1);
      expect(fixture.server.results[0]!.attempt).toBe(2);
    });

    it('is refused beyond the limit of live calls, unless it is known', async () => {
      const { opened, open } = gate();
      await fixture.clientWith(async (call, context) => (await opened, three(call, context))).connect();
      const sent = Array.from({ length: 70 }, (_, n) => fixture.server.deliver(callOf(`${n}`)));
      const acks = await Promise.all(sent);
      const codes = acks.map((ack) => (ack.ok ? 'taken' : ack.error.code));
      expect(codes.filter((code) => code === 'taken')).toHaveLength(64);
      expect(codes.filter((code) => code === 'RATE_LIMITED')).toHaveLength(6);
      expect(await fixture.server.deliver(callOf('0', 2))).toEqual({ ok: true });
      open();
      await until(() => fixture.server.results.length === 64);
    });

    it('is answered from the journal when it is delivered again after its end', async () => {
      fixture.server.answerResult = ({ attempt }) =>
        attempt > 1 ? { ok: true } : { ok: false, error: { code: 'UNAVAILABLE', message: 'Not now.' } };
      let runs = 0;
      await fixture.clientWith(async (call, context) => (runs++, three(call, context))).connect();
      await fixture.server.deliver(callOf('1'));
      await until(() => fixture.server.results.length === 1);
      await fixture.restart();
      await fixture.clientWith(async (call, context) => (runs++, three(call, context))).connect();
      await fixture.server.deliver(callOf('1', 2));
      await until(() => fixture.journal.get('1') === null);
      expect(fixture.server.results.at(-1)).toMatchObject({ attempt: 2, result: { words: 3 } });
      expect(runs).toBe(1);
    });

    it('without a handler is refused', async () => {
      await fixture.clientWith(three).connect();
      const ack = await fixture.server.deliver({ ...callOf('1'), name: 'constructor' });
      expect(ack).toMatchObject({ ok: false, error: { code: 'NOT_FOUND' } });
    });

    it('is refused if the journal cannot store it', async () => {
      await fixture.clientWith(three).connect();
      await fixture.journal.close();
      const ack = await fixture.server.deliver(callOf('1'));
      expect(ack).toMatchObject({ ok: false, error: { code: 'INTERNAL_ERROR' } });
    });

    const noDictionary: RunTool = async () => {
      throw new Error('No dictionary.');
    };

    it('whose handler throws is denied with the reason, which fits every tool', async () => {
      await fixture.clientWith(noDictionary).connect();
      await fixture.server.deliver(callOf('1'));
      await until(() => fixture.server.results.length === 1);
      expect(fixture.server.results[0]).toMatchObject({
        result: null,
        approval: { decision: 'deny', by: 'client', note: 'The client failed: No dictionary.' },
      });
      expect(fixture.warnings).toEqual(['Call 1 of word_count: The client failed: No dictionary.']);
    });

    it('whose handler throws after its start says that its effect is unknown', async () => {
      await fixture
        .clientWith(async (call, context) => (await context.start(), noDictionary(call, context)))
        .connect();
      await fixture.server.deliver(callOf('1'));
      await until(() => fixture.server.results.length === 1);
      expect(fixture.server.results[0]!.approval!.note).toContain('what it did is unknown');
    });

    it('whose handler throws is reported in the shape of its tool if the tool has one', async () => {
      const recover = noDictionary;
      const reportFailure = () => ({ words: -1 });
      await fixture
        .clientWith(three, {
          tools: { word_count: { run: noDictionary, recover, reportFailure } },
        })
        .connect();
      await fixture.server.deliver(callOf('1'));
      await until(() => fixture.server.results.length === 1);
      expect(fixture.server.results[0]).toMatchObject({ result: { words: -1 }, approval: null });
    });

    it('is denied if its failure cannot be put into the shape of its tool', async () => {
      const reportFailure = () => {
        throw new Error('No shape.');
      };
      const handler = { run: noDictionary, recover: noDictionary, reportFailure };
      await fixture.clientWith(three, { tools: { word_count: handler } }).connect();
      await fixture.server.deliver(callOf('1'));
      await until(() => fixture.server.results.length === 1);
      expect(fixture.server.results[0]).toMatchObject({ result: null, approval: { decision: 'deny' } });
    });
  });

  describe('a cancelled call', () => {
    it('is dropped while it waits for the person', async () => {
      await fixture
        .clientWith(async (_call, { signal }) => {
          await new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason as Error)),
          );
          return { result: null };
        })
        .connect();
      await fixture.server.deliver(callOf('1'));
      const cancel = { callId: '1', reason: 'cancelled' as const };
      expect(await fixture.server.socket.timeout(1000).emitWithAck('tool:cancel', cancel)).toEqual({
        ok: true,
      });
      await until(() => fixture.journal.get('1') === null);
      expect(fixture.server.results).toEqual([]);
    });

    it('can no longer start', async () => {
      const { opened, open } = gate();
      let effect = false;
      await fixture
        .clientWith(async (_call, context) => {
          await opened;
          await context.start();
          effect = true;
          return { result: null };
        })
        .connect();
      await fixture.server.deliver(callOf('1'));
      await fixture.server.socket
        .timeout(1000)
        .emitWithAck('tool:cancel', { callId: '1', reason: 'timed_out' });
      open();
      await until(() => fixture.journal.get('1') === null);
      expect(effect).toBe(false);
    });

    it('is finished and reported if it has started', async () => {
      const { opened, open } = gate();
      fixture.server.answerResult = () => ({
        ok: false,
        error: { code: 'LATE_RESULT', message: 'Cancelled.' },
      });
      await fixture
        .clientWith(async (call, context) => {
          await context.start();
          await opened;
          return three(call, context);
        })
        .connect();
      await fixture.server.deliver(callOf('1'));
      await until(() => fixture.journal.get('1')?.state === 'running');
      await fixture.server.socket
        .timeout(1000)
        .emitWithAck('tool:cancel', { callId: '1', reason: 'cancelled' });
      open();
      await until(() => fixture.journal.get('1') === null);
      expect(fixture.server.results).toHaveLength(1);
    });

    it('keeps its result if it has ended and the server has not accepted it yet', async () => {
      fixture.server.answerResult = () => undefined;
      await fixture.clientWith(three).connect();
      await fixture.server.deliver(callOf('1'));
      await until(() => fixture.server.results.length === 1);
      const cancel = { callId: '1', reason: 'cancelled' as const };
      await fixture.server.socket.timeout(1000).emitWithAck('tool:cancel', cancel);
      fixture.server.socket.disconnect(true);
      await until(() => fixture.server.resumes.length === 2);
      expect(fixture.server.resumes[1]).toMatchObject([{ callId: '1', result: { words: 3 } }]);
    });

    it('is dropped if the server forgot it while the client was disconnected', async () => {
      await fixture
        .clientWith(async (_call, { signal }) => {
          await new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason as Error)),
          );
          return { result: null };
        })
        .connect();
      await fixture.server.deliver(callOf('1'));
      fixture.server.answerResume = () => ({ ok: true, forget: ['1'], resume: [] });
      fixture.server.socket.disconnect(true);
      await until(() => fixture.journal.get('1') === null);
      expect(fixture.server.results).toEqual([]);
    });
  });
});
