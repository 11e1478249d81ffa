import { jest } from '@jest/globals';
import type { Ack, ErrorCode, ToolResultReport } from '@patchbay/protocol';
import { Journal } from '../journal/journal.js';
import { MemoryJournals } from '../journal/memory-journals.js';
import { callOf } from './relay-client.sample.js';
import type { RelayLink } from './relay-state.js';
import { ResultSender } from './result-sender.js';

const client = { url: 'http://127.0.0.1:3000', workspaceId: 'w', clientId: 'c' };
const refused = (code: ErrorCode, retryAfterSeconds?: number): Ack => ({
  ok: false,
  error: { code, message: 'No.', retryAfterSeconds },
});

describe('results being sent', () => {
  let journal: Journal;
  let sent: string[];
  /** The server's answer to a report, given the earlier ones. */
  let answer: (report: ToolResultReport) => Promise<Ack>;
  let results: ResultSender;
  beforeEach(async () => {
    jest.useFakeTimers();
    journal = await Journal.open(new MemoryJournals(), client);
    sent = [];
    const sendResult = (report: ToolResultReport) => {
      sent.push(report.callId);
      return answer(report);
    };
    results = new ResultSender(journal, { sendResult } as RelayLink, () => undefined);
  });
  afterEach(() => void jest.useRealTimers());

  const finished = async (...callIds: string[]) => {
    for (const callId of callIds) {
      await journal.receive(callOf(callId));
      await journal.finish(callId, { result: { words: 3 }, approval: null, executionMs: 1 });
    }
  };
  const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

  it('are at most eight at a time', async () => {
    const taken: (() => void)[] = [];
    answer = () => new Promise((resolve) => taken.push(() => resolve({ ok: true })));
    await finished(...Array.from({ length: 20 }, (_, n) => `${n}`));
    results.flush();
    await pass(0);
    expect(sent).toHaveLength(8);
    taken[3]!();
    await pass(0);
    expect(sent).toHaveLength(9);
    // A second look sends none of them twice.
    results.flushAll();
    expect(sent).toHaveLength(9);
  });

  it('are sent again as often as the server refuses them for now', async () => {
    answer = async () => (sent.length > 3 ? { ok: true } : refused('UNAVAILABLE'));
    await finished('1');
    results.flush();
    for (let n = 2; n <= 4; n++) {
      await pass(2_000);
      expect(sent).toHaveLength(n);
    }
    expect(journal.get('1')).toBeNull();
  });

  it('are sent again no sooner than the server has asked for', async () => {
    answer = async () => (sent.length > 1 ? { ok: true } : refused('RATE_LIMITED', 30));
    await finished('1');
    results.flush();
    await pass(29_000);
    expect(sent).toHaveLength(1);
    await pass(1_000);
    expect(sent).toHaveLength(2);
  });

  it('stay whole, however often a small one is lost', async () => {
    const reports: ToolResultReport[] = [];
    answer = async (report) => {
      reports.push(report);
      throw new Error('The connection was lost.');
    };
    await finished('1');
    results.flush();
    await pass(20_000);
    expect(reports.length).toBeGreaterThan(5);
    for (const report of reports) expect(report).toMatchObject({ result: { words: 3 }, approval: null });
  });

  it('are awaited until the last is delivered, queued ones included', async () => {
    const taken: (() => void)[] = [];
    answer = () => new Promise((resolve) => taken.push(() => resolve({ ok: true })));
    await finished(...Array.from({ length: 9 }, (_, n) => `${n}`));
    results.flush();
    let isHome = false;
    const flushed = results.flushed().then(() => (isHome = true));
    for (let n = 0; n < 9; n++) {
      expect(isHome).toBe(false);
      taken[n]!();
      await pass(0);
    }
    await flushed;
    expect(journal.all()).toEqual([]);
  });

  it('are not sent after the sender was stopped', async () => {
    answer = async () => ({ ok: true });
    await finished('1');
    results.stop();
    results.flushAll();
    await pass(60_000);
    expect(sent).toEqual([]);
  });
});
