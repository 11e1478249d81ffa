import type { Ack, FilePut, ResumeAnswer, ResumeEntry } from '@patchbay/protocol';
import type { RecoverTool, SettleTool, ToolHandlers } from './tool-handler.js';

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

  describe('after a restart', () => {
    it('runs a call that had not started', async () => {
      await fixture.run(untilAborted);
      await fixture.restart();
      await fixture.clientWith(three).connect();
      await fixture.untilResult();
      expect(fixture.server.resumes[1]).toEqual([
        { turnId: 't', callId: '1', attempt: 1, state: 'acknowledged' },
      ]);
    });

    it('denies a call for which the client no longer has a handler', async () => {
      await fixture.journal.receive(callOf('1'));
      await fixture.restart();
      await fixture.clientWith(three, { tools: { other: three } }).connect();
      await fixture.untilResult();
      expect(fixture.server.results[0]!.approval!.note).toContain('no longer has a handler for word_count');
    });

    it('does not run a started call again, and denies it with an unknown effect', async () => {
      await fixture.interrupted();
      let runs = 0;
      await fixture.clientWith(async (call, context) => (runs++, three(call, context))).connect();
      await fixture.untilResult();
      const note =
        'The client failed: It was stopped while it ran the call. It had started; what it did is unknown.';
      expect(fixture.server.results[0]).toMatchObject({ result: null, approval: { decision: 'deny', note } });
      expect(runs).toBe(0);
    });

    it('asks a handler that can determine the outcome of a call', async () => {
      await fixture.interrupted();
      const recover = async () => ({ result: { words: 4 } });
      await fixture.clientWith(three, { tools: { word_count: { run: three, recover } } }).connect();
      await fixture.untilResult();
      expect(fixture.server.results[0]!.result).toEqual({ words: 4 });
    });
  });

  describe('a call that had started when the client died', () => {
    const file: FilePut = {
      ...{ docPath: 'repo/a', path: '/repo/a', content: Buffer.from('a'), sha256: 'abc', baseSha256: null },
    };
    const found: SettleTool = (_call, { ended }) => ended({ words: 4 });
    const nothing: SettleTool = (_call, { notRun }) => notRun();
    /** Uploads and reports the settled result; without one, reports that it ran the call again. */
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

    it('is settled by its handler before the client connects, with the result in the journal', async () => {
      await fixture.interrupted();
      const asked: unknown[] = [];
      const settle: SettleTool = async (call, context, entry) => {
        asked.push([call.callId, entry.state, fixture.server.handshakes.length]);
        await found(call, context, entry);
        asked.push(fixture.journal.get('1')!.settled);
      };
      await fixture.clientWith(three, { tools: tools(settle) }).connect();
      expect(asked).toEqual([['1', 'running', 0], { result: { words: 4 } }]);
      expect(fixture.server.resumes).toEqual([[{ turnId: 't', callId: '1', attempt: 1, state: 'running' }]]);
    });

    it('is uploaded, reported and forgotten once it is settled', async () => {
      await fixture.interrupted();
      await fixture.clientWith(three, { tools: tools(found) }).connect();
      await until(() => fixture.journal.all().length === 0);
      expect(fixture.server.files).toMatchObject([{ docPath: 'repo/a' }]);
      expect(fixture.server.results).toMatchObject([{ callId: '1', result: { words: 4 } }]);
      expect(fixture.server.events).toEqual(['client:resume', 'files:put', 'tool:result']);
    });

    it('is uploaded and reported if the server no longer waits for it', async () => {
      fixture.server.answerResume = forgetsAll;
      fixture.server.answerResult = () => refused('LATE_RESULT', 'It has ended.');
      await fixture.interrupted();
      await fixture.clientWith(three, { tools: tools(found) }).connect();
      await until(() => fixture.journal.all().length === 0);
      expect([fixture.server.files.length, fixture.server.results]).toMatchObject([
        1,
        [{ result: { words: 4 } }],
      ]);
    });

    it('is reported if it is cancelled before its result was sent', async () => {
      await fixture.interrupted();
      const { opened, open } = gate();
      const recover: RecoverTool = async (call, context, entry) => {
        await opened;
        context.signal.throwIfAborted();
        return goOn(call, context, entry);
      };
      await fixture.clientWith(three, { tools: tools(found, recover) }).connect();
      await fixture.server.cancel('1');
      fixture.server.answerResume = forgetsAll;
      fixture.server.disconnect();
      await until(() => fixture.server.resumes.length === 2);
      open();
      await fixture.untilResult();
      expect(fixture.server.results[0]!.result).toEqual({ words: 4 });
    });

    it('runs again if nothing had happened and the server still wants it, and is otherwise forgotten', async () => {
      await fixture.interrupted();
      await fixture.clientWith(three, { tools: tools(nothing) }).connect();
      await fixture.untilResult();
      expect(fixture.server.results[0]!.result).toEqual({ words: 3 });
      await until(() => fixture.journal.all().length === 0);
      fixture.server.answerResume = forgetsAll;
      await fixture.interrupted();
      await fixture.clientWith(three, { tools: tools(nothing) }).connect();
      await until(() => fixture.journal.all().length === 0);
      expect([fixture.server.results.length, fixture.server.files.length]).toEqual([1, 1]);
    });

    it('keeps its result through another crash of the client, for a handler that is asked again', async () => {
      await fixture.interrupted();
      await fixture.clientWith(three, { tools: tools(found) }).settle();
      await fixture.restart();
      const again: SettleTool = async (_call, { ended, notRun }, entry) => {
        expect(entry.settled).toEqual({ result: { words: 4 } });
        await ended({ words: 5 });
        await notRun();
      };
      await fixture.clientWith(three, { tools: tools(again) }).connect();
      await fixture.untilResult();
      expect(fixture.server.results[0]!.result).toEqual({ words: 4 });
    });

    it('is the only kind that is settled: calls that had not started are not', async () => {
      await fixture.journal.receive(callOf('0'));
      await fixture.interrupted();
      const asked: string[] = [];
      const settle: SettleTool = (call, context, entry) => (
        asked.push(call.callId),
        found(call, context, entry)
      );
      await fixture.clientWith(three, { tools: tools(settle) }).settle();
      expect(asked).toEqual(['1']);
    });

    it('is settled once, also if `settle` is called before `connect`', async () => {
      await fixture.interrupted();
      let times = 0;
      const settle: SettleTool = (...args) => (times++, found(...args));
      const settling = fixture.clientWith(three, { tools: tools(settle) });
      await settling.settle();
      expect([times, fixture.server.handshakes.length]).toEqual([1, 0]);
      await settling.connect();
      expect(times).toBe(1);
    });

    it('does not keep the client from connecting if it cannot be settled; its handler then decides', async () => {
      await fixture.interrupted();
      const settle: SettleTool = () => Promise.reject(new Error('The disk is gone.'));
      await fixture.clientWith(three, { tools: tools(settle) }).connect();
      await fixture.untilResult();
      expect(fixture.warnings).toEqual([
        'Call 1 of word_count, which was interrupted, could not be settled: The disk is gone.',
      ]);
      expect(fixture.server.results[0]!.result).toEqual({ words: 3 });
    });
  });
});
