import type { RunTool } from './tool-handler.js';

import { callOf, gate, RelayClientScene, three, until } from './relay-client.sample.js';

describe('RelayClient', () => {
  const scene = new RelayClientScene();
  beforeEach(() => scene.open());
  afterEach(() => scene.close());

  describe('a call', () => {
    it('is in the journal when it is acknowledged, runs, and is forgotten once its result is taken', async () => {
      const { opened, open } = gate();
      await scene.clientWith(async (call, context) => (await opened, three(call, context))).connect();
      expect(await scene.server.deliver(callOf('1'))).toEqual({ ok: true });
      expect(scene.journal.get('1')).toMatchObject({ state: 'acknowledged' });
      open();
      await until(() => scene.journal.get('1') === null);
      expect(scene.server.results).toEqual([
        { turnId: 't', callId: '1', attempt: 1, executionMs: 1, result: { words: 3 }, approval: null },
      ]);
    });

    it('tells its steps, and what the person decided', async () => {
      const approval = { decision: 'allow' as const, by: 'ada', at: new Date().toISOString() };
      await scene
        .clientWith(async (_call, context) => {
          await context.awaitApproval('Asking Ada.');
          await context.start(approval);
          return { result: 3, approval };
        })
        .connect();
      await scene.server.deliver(callOf('1'));
      await until(() => scene.server.results.length === 1);
      expect(scene.server.statuses.map(({ status, note }) => [status, note])).toEqual([
        ['awaiting_approval', 'Asking Ada.'],
        ['running', undefined],
      ]);
      expect(scene.server.results[0]!.approval).toEqual(approval);
    });

    it('that is delivered twice runs once', async () => {
      let runs = 0;
      const { opened, open } = gate();
      await scene.clientWith(async (call, context) => (runs++, await opened, three(call, context))).connect();
      await Promise.all([scene.server.deliver(callOf('1')), scene.server.deliver(callOf('1', 2))]);
      open();
      await until(() => scene.server.results.length === 1);
      expect(runs).toBe(1);
      expect(scene.server.results[0]!.attempt).toBe(2);
    });

    it('beyond those that a client can have in its hands is refused, whatever the server sends, and a known one is not', async () => {
      const { opened, open } = gate();
      await scene.clientWith(async (call, context) => (await opened, three(call, context))).connect();
      const sent = Array.from({ length: 70 }, (_, n) => scene.server.deliver(callOf(`${n}`)));
      const acks = await Promise.all(sent);
      const codes = acks.map((ack) => (ack.ok ? 'taken' : ack.error.code));
      expect(codes.filter((code) => code === 'taken')).toHaveLength(64);
      expect(codes.filter((code) => code === 'RATE_LIMITED')).toHaveLength(6);
      expect(await scene.server.deliver(callOf('0', 2))).toEqual({ ok: true });
      open();
      await until(() => scene.server.results.length === 64);
    });

    it('that is delivered again after it ended is answered from the journal', async () => {
      scene.server.answerResult = ({ attempt }) =>
        attempt > 1 ? { ok: true } : { ok: false, error: { code: 'UNAVAILABLE', message: 'Not now.' } };
      let runs = 0;
      await scene.clientWith(async (call, context) => (runs++, three(call, context))).connect();
      await scene.server.deliver(callOf('1'));
      await until(() => scene.server.results.length === 1);
      await scene.restart();
      await scene.clientWith(async (call, context) => (runs++, three(call, context))).connect();
      await scene.server.deliver(callOf('1', 2));
      await until(() => scene.journal.get('1') === null);
      expect(scene.server.results.at(-1)).toMatchObject({ attempt: 2, result: { words: 3 } });
      expect(runs).toBe(1);
    });

    it('that the client has no handler for is refused', async () => {
      await scene.clientWith(three).connect();
      const ack = await scene.server.deliver({ ...callOf('1'), name: 'constructor' });
      expect(ack).toMatchObject({ ok: false, error: { code: 'NOT_FOUND' } });
    });

    it('that the journal cannot take is refused', async () => {
      await scene.clientWith(three).connect();
      await scene.journal.close();
      const ack = await scene.server.deliver(callOf('1'));
      expect(ack).toMatchObject({ ok: false, error: { code: 'INTERNAL_ERROR' } });
    });

    const noDictionary: RunTool = async () => {
      throw new Error('No dictionary.');
    };

    it('whose handler throws is denied with the reason, which fits every tool', async () => {
      await scene.clientWith(noDictionary).connect();
      await scene.server.deliver(callOf('1'));
      await until(() => scene.server.results.length === 1);
      expect(scene.server.results[0]).toMatchObject({
        result: null,
        approval: { decision: 'deny', by: 'client', note: 'The client failed: No dictionary.' },
      });
      expect(scene.warnings).toEqual(['Call 1 of word_count: The client failed: No dictionary.']);
    });

    it('whose handler throws after its start says that its effect is unknown', async () => {
      await scene
        .clientWith(async (call, context) => (await context.start(), noDictionary(call, context)))
        .connect();
      await scene.server.deliver(callOf('1'));
      await until(() => scene.server.results.length === 1);
      expect(scene.server.results[0]!.approval!.note).toContain('what it did is unknown');
    });

    it('whose handler throws is reported in the shape of its tool where it has one', async () => {
      const recover = noDictionary;
      const reportFailure = () => ({ words: -1 });
      await scene
        .clientWith(three, {
          tools: { word_count: { run: noDictionary, recover, reportFailure } },
        })
        .connect();
      await scene.server.deliver(callOf('1'));
      await until(() => scene.server.results.length === 1);
      expect(scene.server.results[0]).toMatchObject({ result: { words: -1 }, approval: null });
    });

    it('whose failure can not be put in the shape of its tool is denied', async () => {
      const reportFailure = () => {
        throw new Error('No shape.');
      };
      const handler = { run: noDictionary, recover: noDictionary, reportFailure };
      await scene.clientWith(three, { tools: { word_count: handler } }).connect();
      await scene.server.deliver(callOf('1'));
      await until(() => scene.server.results.length === 1);
      expect(scene.server.results[0]).toMatchObject({ result: null, approval: { decision: 'deny' } });
    });
  });

  describe('a cancelled call', () => {
    it('is dropped while it waits for the person', async () => {
      await scene
        .clientWith(async (_call, { signal }) => {
          await new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason as Error)),
          );
          return { result: null };
        })
        .connect();
      await scene.server.deliver(callOf('1'));
      const cancel = { callId: '1', reason: 'cancelled' as const };
      expect(await scene.server.socket.timeout(1000).emitWithAck('tool:cancel', cancel)).toEqual({
        ok: true,
      });
      await until(() => scene.journal.get('1') === null);
      expect(scene.server.results).toEqual([]);
    });

    it('cannot start any more', async () => {
      const { opened, open } = gate();
      let effect = false;
      await scene
        .clientWith(async (_call, context) => {
          await opened;
          await context.start();
          effect = true;
          return { result: null };
        })
        .connect();
      await scene.server.deliver(callOf('1'));
      await scene.server.socket
        .timeout(1000)
        .emitWithAck('tool:cancel', { callId: '1', reason: 'timed_out' });
      open();
      await until(() => scene.journal.get('1') === null);
      expect(effect).toBe(false);
    });

    it('that has started is finished, and reported', async () => {
      const { opened, open } = gate();
      scene.server.answerResult = () => ({
        ok: false,
        error: { code: 'LATE_RESULT', message: 'Cancelled.' },
      });
      await scene
        .clientWith(async (call, context) => {
          await context.start();
          await opened;
          return three(call, context);
        })
        .connect();
      await scene.server.deliver(callOf('1'));
      await until(() => scene.journal.get('1')?.state === 'running');
      await scene.server.socket
        .timeout(1000)
        .emitWithAck('tool:cancel', { callId: '1', reason: 'cancelled' });
      open();
      await until(() => scene.journal.get('1') === null);
      expect(scene.server.results).toHaveLength(1);
    });

    it('that has ended keeps its result, which the server has not taken yet', async () => {
      scene.server.answerResult = () => undefined;
      await scene.clientWith(three).connect();
      await scene.server.deliver(callOf('1'));
      await until(() => scene.server.results.length === 1);
      const cancel = { callId: '1', reason: 'cancelled' as const };
      await scene.server.socket.timeout(1000).emitWithAck('tool:cancel', cancel);
      scene.server.socket.disconnect(true);
      await until(() => scene.server.resumes.length === 2);
      expect(scene.server.resumes[1]).toMatchObject([{ callId: '1', result: { words: 3 } }]);
    });

    it('is dropped too where the server forgot it while the client was away', async () => {
      await scene
        .clientWith(async (_call, { signal }) => {
          await new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason as Error)),
          );
          return { result: null };
        })
        .connect();
      await scene.server.deliver(callOf('1'));
      scene.server.answerResume = () => ({ ok: true, forget: ['1'], resume: [] });
      scene.server.socket.disconnect(true);
      await until(() => scene.journal.get('1') === null);
      expect(scene.server.results).toEqual([]);
    });
  });
});
