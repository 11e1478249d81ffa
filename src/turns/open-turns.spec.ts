import { jest } from '@jest/globals';
import type { PinoLogger } from '../common/pino-logger.js';
import { aCall, aTurn, NOON } from './turn.sample.js';
import { OpenTurns } from './open-turns.js';
import type { Turn } from '../storage/ports/turn.js';
import type { TurnStore } from '../storage/ports/turns.store.js';

const logger = { setContext() {}, debug() {}, warn() {}, error() {} } as unknown as PinoLogger;

describe('the open turns of a node', () => {
  let stored: Turn;
  let finds: number;
  let turns: OpenTurns;
  beforeEach(() => {
    jest.useFakeTimers({ now: NOON, doNotFake: ['queueMicrotask'] });
    finds = 0;
    const store = {
      save(_before: Turn, after: Turn) {
        stored = after;
        return Promise.resolve(true);
      },
      record: () => Promise.resolve(),
      versionOf: () => Promise.resolve(stored.version),
      find: () => Promise.resolve(stored).finally(() => (finds += 1)),
    } as unknown as TurnStore;
    turns = new OpenTurns(store, { now: () => Date.now() }, { value: 'node' }, logger);
  });
  afterEach(() => {
    turns.onApplicationShutdown();
    jest.useRealTimers();
  });

  const claim = (turn: Turn) => ({
    type: 'claim' as const,
    callId: turn.calls[0]!.callId,
    clientId: 'editor',
    folder: [],
    ackWithinMs: 1_000,
  });

  it('act at the next deadline of a turn, also where it came nearer', async () => {
    stored = aTurn('w');
    turns.adopt(stored, null, []);
    await turns.submit(stored, claim(stored));
    expect(stored.calls[0]!.status).toBe('forwarded');
    await jest.advanceTimersByTimeAsync(999);
    expect(stored.calls[0]!.status).toBe('forwarded');
    await jest.advanceTimersByTimeAsync(1);
    expect(stored.calls[0]!.status).toBe('pending');
    await jest.advanceTimersByTimeAsync(299_000);
    expect(stored).toMatchObject({ status: 'completed', calls: [{ status: 'timed_out' }] });
  });

  it('let go of a turn that has ended, and of its calls, whoever ended it', async () => {
    stored = aTurn('w');
    const open = stored;
    const [{ callId }] = open.calls as [Turn['calls'][0]];
    turns.adopt(open, null, []);
    expect([turns.peek(open), turns.ofCall(callId)]).toEqual([open, open]);
    stored = { ...open, version: 2, status: 'cancelled' };
    await turns.refresh(open);
    expect([turns.peek(open), turns.ofCall(callId), turns.all()]).toEqual([null, null, []]);
  });

  it('read a turn that they do not know once, for all who come at once', async () => {
    stored = aTurn('w', { calls: [aCall({ deliveryAt: NOON + 5_000 })] });
    const answers = await Promise.all([
      turns.submit(stored, claim(stored)),
      turns.submit(stored, { type: 'tick' }),
    ]);
    expect(answers).toEqual([{ ok: true }, { ok: true }]);
    expect(finds).toBe(1);
    expect(stored.version).toBe(2);
  });
});
