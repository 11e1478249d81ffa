import type { ReportFailure, RunTool, ToolHandler } from './tool-handler.js';

import {
  callOf,
  gate,
  refused,
  RelayClientFixture,
  three,
  until,
  untilAborted,
} from './relay-client.sample.js';

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
      await fixture.untilForgotten();
      expect(fixture.server.results).toEqual([
        { turnId: 't', callId: '1', attempt: 1, executionMs: 1, result: { words: 3 }, approval: null },
      ]);
    });

    it("reports its steps and the person's decision", async () => {
      const approval = { decision: 'allow' as const, by: 'ada', at: new Date().toISOString() };
      await fixture.run(async (_call, context) => {
        await context.awaitApproval('Asking Ada.');
        await context.start(approval);
        return { result: 3, approval };
      });
      await fixture.untilResult();
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
      await fixture.untilResult();
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
        attempt > 1 ? { ok: true } : refused('UNAVAILABLE', 'Not now.');
      let runs = 0;
      await fixture.run(async (call, context) => (runs++, three(call, context)));
      await fixture.untilResult();
      await fixture.restart();
      await fixture.clientWith(async (call, context) => (runs++, three(call, context))).connect();
      await fixture.server.deliver(callOf('1', 2));
      await fixture.untilForgotten();
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

    const fails: RunTool = () => Promise.reject(new Error('No dictionary.'));
    const denied = (note: string) => ({ result: null, approval: { decision: 'deny', by: 'client', note } });
    const reporting = (reportFailure: ReportFailure) => ({ run: fails, recover: fails, reportFailure });
    const noShape: ReportFailure = () => {
      throw new Error('No shape.');
    };
    const reason = 'The client failed: No dictionary.';

    it.each<[string, ToolHandler, object]>([
      ['is denied with the reason, which fits every tool', fails, denied(reason)],
      [
        'is denied with an unknown effect after its start',
        async (call, context) => (await context.start(), fails(call, context)),
        denied(`${reason} It had started; what it did is unknown.`),
      ],
      [
        'is reported in the shape of its tool',
        reporting(() => ({ words: -1 })),
        { result: { words: -1 }, approval: null },
      ],
      ['is denied if that shape cannot be made', reporting(noShape), denied(reason)],
    ])('whose handler throws %s', async (_what, handler, report) => {
      await fixture.run(three, { tools: { word_count: handler } });
      await fixture.untilResult();
      expect(fixture.server.results[0]).toMatchObject(report);
      expect(fixture.warnings[0]).toBe(`Call 1 of word_count: ${reason}`);
    });
  });

  describe('a cancelled call', () => {
    it('is dropped while it waits for the person', async () => {
      await fixture.run(untilAborted);
      expect(await fixture.server.cancel('1')).toEqual({
        ok: true,
      });
      await fixture.untilForgotten();
      expect(fixture.server.results).toEqual([]);
    });

    it('can no longer start', async () => {
      const { opened, open } = gate();
      let effect = false;
      await fixture.run(async (_call, context) => {
        await opened;
        await context.start();
        effect = true;
        return { result: null };
      });
      await fixture.server.cancel('1', 'timed_out');
      open();
      await fixture.untilForgotten();
      expect(effect).toBe(false);
    });

    it('is finished and reported if it has started', async () => {
      const { opened, open } = gate();
      fixture.server.answerResult = () => refused('LATE_RESULT', 'Cancelled.');
      await fixture.run(async (call, context) => {
        await context.start();
        await opened;
        return three(call, context);
      });
      await until(() => fixture.journal.get('1')?.state === 'running');
      await fixture.server.cancel('1');
      open();
      await fixture.untilForgotten();
      expect(fixture.server.results).toHaveLength(1);
    });

    it('keeps its result if it has ended and the server has not accepted it yet', async () => {
      fixture.server.answerResult = () => undefined;
      await fixture.run(three);
      await fixture.untilResult();
      await fixture.server.cancel('1');
      fixture.server.disconnect();
      await until(() => fixture.server.resumes.length === 2);
      expect(fixture.server.resumes[1]).toMatchObject([{ callId: '1', result: { words: 3 } }]);
    });

    it('is dropped if the server forgot it while the client was disconnected', async () => {
      await fixture.run(untilAborted);
      fixture.server.answerResume = () => ({ ok: true, forget: ['1'], resume: [] });
      fixture.server.disconnect();
      await fixture.untilForgotten();
      expect(fixture.server.results).toEqual([]);
    });
  });
});
