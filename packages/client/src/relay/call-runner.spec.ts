import { jest } from '@jest/globals';
import type { Ack, ToolResultReport, ToolStatus } from '@patchbay/protocol';
import { Journal } from '../journal/journal.js';
import { MemoryJournals } from '../journal/memory-journals.js';
import { CallRunner } from './call-runner.js';
import { callOf, gate, until } from './relay-client.sample.js';
import type { RelayLink } from './relay-state.js';
import type { RunTool } from './tool-handler.js';

const client = { url: 'http://127.0.0.1:3000', workspaceId: 'w', clientId: 'c' };

describe('the runner of calls', () => {
  let journal: Journal;
  let statuses: ToolStatus[];
  let results: ToolResultReport[];
  let warnings: string[];
  let link: RelayLink;
  beforeEach(async () => {
    journal = await Journal.open(new MemoryJournals(), client);
    [statuses, results, warnings] = [[], [], []];
    const taken = Promise.resolve<Ack>({ ok: true });
    link = {
      sendStatus: (status) => (statuses.push(status), taken),
      sendResult: (report) => (results.push(report), taken),
      sendFile: () => null,
      sendActiveFiles: () => null,
      sendFolderStatus: () => null,
    };
  });
  afterEach(() => void jest.restoreAllMocks());
  const runnerOf = (run: RunTool) =>
    new CallRunner({ word_count: run }, journal, link, (message) => warnings.push(message));

  it('closes while a call never ends, and leaves that call in the journal', async () => {
    const { opened } = gate();
    const runner = runnerOf(async (_call, context) => {
      await context.start();
      await opened;
      return { result: null };
    });
    await runner.deliver(callOf('1'));
    await until(() => journal.get('1')?.state === 'running');
    await runner.close(10);
    expect([journal.get('1')?.state, results]).toEqual(['running', []]);
  });

  it('measures a call from its start, without the time for approval', async () => {
    let now = 1_000_000;
    jest.spyOn(Date, 'now').mockImplementation(() => now);
    const runner = runnerOf(async (_call, context) => {
      await context.awaitApproval();
      now += 60_000;
      await context.start();
      now += 5;
      return { result: { words: 3 } };
    });
    await runner.deliver(callOf('1'));
    await until(() => results.length === 1);
    expect(results[0]!.executionMs).toBe(5);
  });

  it('reports progress to the newest delivery of a call', async () => {
    const { opened, open } = gate();
    const runner = runnerOf(async (_call, context) => {
      await opened;
      await context.start();
      return { result: null };
    });
    await runner.deliver(callOf('1'));
    await runner.deliver(callOf('1', 2));
    open();
    await until(() => results.length === 1);
    expect(statuses).toMatchObject([{ status: 'running', attempt: 2 }]);
  });

  it('accepts only known calls when the journal is full', async () => {
    await journal.receive(callOf('1'));
    await journal.finish('1', { result: { words: 3 }, approval: null, executionMs: 1 });
    jest.spyOn(journal, 'isFull', 'get').mockReturnValue(true);
    const runner = runnerOf(async () => ({ result: null }));
    expect(await runner.deliver(callOf('2'))).toMatchObject({ error: { code: 'RATE_LIMITED' } });
    expect(await runner.deliver(callOf('1', 2))).toEqual({ ok: true });
    expect(results).toMatchObject([{ callId: '1', result: { words: 3 } }]);
  });

  it('does not count calls that the journal could not store', async () => {
    const receive = jest.spyOn(journal, 'receive').mockRejectedValue(new Error('The disk is full.'));
    const runner = runnerOf(async () => ({ result: null }));
    for (let n = 0; n < 70; n++) {
      expect(await runner.deliver(callOf(`${n}`))).toMatchObject({ error: { code: 'INTERNAL_ERROR' } });
    }
    receive.mockRestore();
    expect(await runner.deliver(callOf('1'))).toEqual({ ok: true });
  });

  it('changes nothing if the journal cannot record the start, and reports it', async () => {
    jest.spyOn(journal, 'start').mockRejectedValue(new Error('The disk is full.'));
    let effects = 0;
    const runner = runnerOf(async (_call, context) => {
      await context.start();
      effects += 1;
      return { result: null };
    });
    await runner.deliver(callOf('1'));
    await until(() => results.length === 1);
    expect(effects).toBe(0);
    expect(results).toMatchObject([{ approval: { note: 'The client failed: The disk is full.' } }]);
  });

  it('asks nobody about a cancelled call', async () => {
    const { opened, open } = gate();
    let asked = 0;
    const runner = runnerOf(async (_call, context) => {
      await opened;
      await context.awaitApproval();
      asked += 1;
      return { result: null };
    });
    await runner.deliver(callOf('1'));
    await runner.cancel({ callId: '1', reason: 'cancelled' });
    open();
    await until(() => journal.get('1') === null);
    expect([asked, statuses]).toEqual([0, []]);
  });

  it('forgets a cancelled call that has not begun', async () => {
    await journal.receive(callOf('1'));
    const runner = runnerOf(async () => ({ result: null }));
    await runner.cancel({ callId: '1', reason: 'cancelled' });
    expect(journal.get('1')).toBeNull();
  });

  it('reports a handler that aborted itself as failed, not as cancelled', async () => {
    const runner = runnerOf(() =>
      Promise.reject(Object.assign(new Error('Too slow.'), { name: 'AbortError' })),
    );
    await runner.deliver(callOf('1'));
    await until(() => results.length === 1);
    expect(results).toMatchObject([{ approval: { note: 'The client failed: Too slow.' } }]);
  });

  it('reports a failure after the start of a cancelled call', async () => {
    const { opened, open } = gate();
    const runner = runnerOf(async (_call, context) => {
      await context.start();
      await opened;
      throw new Error('Half of it is done.');
    });
    await runner.deliver(callOf('1'));
    await until(() => journal.get('1')?.state === 'running');
    await runner.cancel({ callId: '1', reason: 'cancelled' });
    open();
    await until(() => results.length === 1);
    const note = expect.stringContaining('Half of it is done. It had started') as string;
    expect(results).toMatchObject([{ approval: { decision: 'deny', note } }]);
  });

  describe('after a reconnect', () => {
    it.each([
      ['still wants it', { forget: [], resume: ['1'] }],
      ['has forgotten it', { forget: ['1'], resume: [] }],
    ])('keeps a running call running, once, and reports it when the server %s', async (_what, answer) => {
      const { opened, open } = gate();
      let runs = 0;
      const runner = runnerOf(async (_call, context) => {
        runs += 1;
        await context.start();
        await opened;
        return { result: { words: 3 } };
      });
      await runner.deliver(callOf('1'));
      await until(() => journal.get('1')?.state === 'running');
      expect(runner.entries(true)).toMatchObject([{ callId: '1', state: 'running' }]);
      await runner.resume(answer);
      open();
      await until(() => results.length === 1);
      expect([runs, results]).toMatchObject([1, [{ callId: '1', result: { words: 3 } }]]);
    });

    it('reports that a person is being asked', async () => {
      const { opened } = gate();
      const runner = runnerOf(async (_call, context) => {
        await context.awaitApproval();
        await opened;
        return { result: null };
      });
      await runner.deliver(callOf('1'));
      await until(() => statuses.length === 1);
      expect(runner.entries(true)).toMatchObject([{ callId: '1', state: 'awaiting_approval' }]);
    });

    it('forgets a result that was rejected for good when the server forgets its call', async () => {
      const error = { code: 'VALIDATION_ERROR', message: 'words' } as const;
      link.sendResult = () => Promise.resolve({ ok: false, error });
      const runner = runnerOf(async () => ({ result: { words: 'three' } }));
      await runner.deliver(callOf('1'));
      await until(() => warnings.length === 1);
      runner.entries(false);
      await runner.resume({ forget: ['1'], resume: [] });
      expect(journal.get('1')).toBeNull();
    });
  });
});
