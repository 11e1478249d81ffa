import type { Ack, FilePut, ResumeAnswer, ResumeEntry } from '@patchbay/protocol';
import type { RecoverTool, RunTool, SettleTool, ToolHandlers } from './tool-handler.js';

import { callOf, gate, RelayClientScene, three, until } from './relay-client.sample.js';

describe('RelayClient', () => {
  const scene = new RelayClientScene();
  beforeEach(() => scene.open());
  afterEach(() => scene.close());

  describe('after a restart', () => {
    const untilAborted: RunTool = async (_call, { signal }) => {
      await new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      );
      return { result: null };
    };

    it('a call that had not started is run', async () => {
      await scene.clientWith(untilAborted).connect();
      await scene.server.deliver(callOf('1'));
      await scene.restart();
      await scene.clientWith(three).connect();
      await until(() => scene.server.results.length === 1);
      expect(scene.server.resumes[1]).toEqual([
        { turnId: 't', callId: '1', attempt: 1, state: 'acknowledged' },
      ]);
    });

    it('a call that the client has no handler for any more is denied', async () => {
      await scene.journal.receive(callOf('1'));
      await scene.restart();
      await scene.clientWith(three, { tools: { other: three } }).connect();
      await until(() => scene.server.results.length === 1);
      expect(scene.server.results[0]!.approval!.note).toContain('no longer has a handler for word_count');
    });

    it('a call that had started is not run again, and is denied as one of unknown effect', async () => {
      await scene.journal.receive(callOf('1'));
      await scene.journal.start('1', null);
      await scene.restart();
      let runs = 0;
      await scene.clientWith(async (call, context) => (runs++, three(call, context))).connect();
      await until(() => scene.server.results.length === 1);
      const note =
        'The client failed: It was stopped while it ran the call. It had started; what it did is unknown.';
      expect(scene.server.results[0]).toMatchObject({ result: null, approval: { decision: 'deny', note } });
      expect(runs).toBe(0);
    });

    it('a handler that can tell what became of a call is asked', async () => {
      await scene.journal.receive(callOf('1'));
      await scene.journal.start('1', null);
      await scene.restart();
      const recover = async () => ({ result: { words: 4 } });
      await scene.clientWith(three, { tools: { word_count: { run: three, recover } } }).connect();
      await until(() => scene.server.results.length === 1);
      expect(scene.server.results[0]!.result).toEqual({ words: 4 });
    });
  });

  describe('a call that had started when the client died', () => {
    const file: FilePut = {
      ...{ docPath: 'repo/a', path: '/repo/a', content: Buffer.from('a'), sha256: 'abc', baseSha256: null },
    };
    /** Another process that finds the call as the one before it has left it. */
    const interrupted = async () => {
      await scene.journal.receive(callOf('1'));
      await scene.journal.start('1', null);
      await scene.restart();
    };
    const found: SettleTool = (_call, { ended }) => ended({ words: 4 });
    const nothing: SettleTool = (_call, { notRun }) => notRun();
    /** Uploads, and reports what was found; else says that it ran the call again. */
    const goOn: RecoverTool = async (_call, context, { settled }) => {
      await context.putFile(file);
      return { result: settled ? settled.result : { words: 3 } };
    };
    const tools = (settle: SettleTool, recover = goOn): ToolHandlers => ({
      word_count: { run: three, settle, recover },
    });
    const forgetsAll = (entries: ResumeEntry[]): Ack<ResumeAnswer> => ({
      ...{ ok: true, resume: [], forget: entries.map(({ callId }) => callId) },
    });

    it('is settled by its handler before the client connects, and the finding is in the journal', async () => {
      await interrupted();
      const asked: unknown[] = [];
      const settle: SettleTool = async (call, context, entry) => {
        asked.push([call.callId, entry.state, scene.server.handshakes.length]);
        await found(call, context, entry);
        asked.push(scene.journal.get('1')!.settled);
      };
      await scene.clientWith(three, { tools: tools(settle) }).connect();
      expect(asked).toEqual([['1', 'running', 0], { result: { words: 4 } }]);
      expect(scene.server.resumes).toEqual([[{ turnId: 't', callId: '1', attempt: 1, state: 'running' }]]);
    });

    it('is uploaded, reported and forgotten once it is settled', async () => {
      await interrupted();
      await scene.clientWith(three, { tools: tools(found) }).connect();
      await until(() => scene.journal.all().length === 0);
      expect(scene.server.files).toMatchObject([{ docPath: 'repo/a' }]);
      expect(scene.server.results).toMatchObject([{ callId: '1', result: { words: 4 } }]);
      expect(scene.server.events).toEqual(['client:resume', 'files:put', 'tool:result']);
    });

    it('is uploaded and reported too where the server no longer waits for it', async () => {
      scene.server.answerResume = forgetsAll;
      scene.server.answerResult = () => ({
        ok: false,
        error: { code: 'LATE_RESULT', message: 'It has ended.' },
      });
      await interrupted();
      await scene.clientWith(three, { tools: tools(found) }).connect();
      await until(() => scene.journal.all().length === 0);
      expect([scene.server.files.length, scene.server.results]).toMatchObject([
        1,
        [{ result: { words: 4 } }],
      ]);
    });

    it('is reported even so where the call is cancelled before it could be', async () => {
      await interrupted();
      const { opened, open } = gate();
      const recover: RecoverTool = async (call, context, entry) => {
        await opened;
        context.signal.throwIfAborted();
        return goOn(call, context, entry);
      };
      await scene.clientWith(three, { tools: tools(found, recover) }).connect();
      await scene.server.socket
        .timeout(2000)
        .emitWithAck('tool:cancel', { callId: '1', reason: 'cancelled' });
      scene.server.answerResume = forgetsAll;
      scene.server.socket.disconnect(true);
      await until(() => scene.server.resumes.length === 2);
      open();
      await until(() => scene.server.results.length === 1);
      expect(scene.server.results[0]!.result).toEqual({ words: 4 });
    });

    it('goes on where nothing had happened and the server still wants it, and is forgotten where it does not', async () => {
      await interrupted();
      await scene.clientWith(three, { tools: tools(nothing) }).connect();
      await until(() => scene.server.results.length === 1);
      expect(scene.server.results[0]!.result).toEqual({ words: 3 });
      await until(() => scene.journal.all().length === 0);
      scene.server.answerResume = forgetsAll;
      await interrupted();
      await scene.clientWith(three, { tools: tools(nothing) }).connect();
      await until(() => scene.journal.all().length === 0);
      expect([scene.server.results.length, scene.server.files.length]).toEqual([1, 1]);
    });

    it('keeps its finding through another death of the client, for a handler that is asked again', async () => {
      await interrupted();
      await scene.clientWith(three, { tools: tools(found) }).settle();
      await scene.restart();
      const again: SettleTool = async (_call, { ended, notRun }, entry) => {
        expect(entry.settled).toEqual({ result: { words: 4 } });
        await ended({ words: 5 });
        await notRun();
      };
      await scene.clientWith(three, { tools: tools(again) }).connect();
      await until(() => scene.server.results.length === 1);
      expect(scene.server.results[0]!.result).toEqual({ words: 4 });
    });

    it('is settled alone: what had not started has nothing to be settled', async () => {
      await scene.journal.receive(callOf('0'));
      await interrupted();
      const asked: string[] = [];
      const settle: SettleTool = (call, context, entry) => (
        asked.push(call.callId),
        found(call, context, entry)
      );
      await scene.clientWith(three, { tools: tools(settle) }).settle();
      expect(asked).toEqual(['1']);
    });

    it('is settled once, also where it is asked for before the client connects', async () => {
      await interrupted();
      let times = 0;
      const settle: SettleTool = (...args) => (times++, found(...args));
      const settling = scene.clientWith(three, { tools: tools(settle) });
      await settling.settle();
      expect([times, scene.server.handshakes.length]).toEqual([1, 0]);
      await settling.connect();
      expect(times).toBe(1);
    });

    it('keeps the client from nothing where it cannot be settled, and is then for its handler to decide', async () => {
      await interrupted();
      const settle: SettleTool = () => Promise.reject(new Error('The disk is gone.'));
      await scene.clientWith(three, { tools: tools(settle) }).connect();
      await until(() => scene.server.results.length === 1);
      expect(scene.warnings).toEqual([
        'Call 1 of word_count, which was interrupted, could not be settled: The disk is gone.',
      ]);
      expect(scene.server.results[0]!.result).toEqual({ words: 3 });
    });
  });
});
