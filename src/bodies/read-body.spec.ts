import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { jest } from '@jest/globals';
import { Budget } from '../limits/budget.js';
import { readBody } from './read-body.js';
import { Reception } from './receiving.js';

const LIMIT = 16;

describe('readBody', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'performance'] }));
  afterEach(() => void jest.useRealTimers());

  it.each<[string, (sender: PassThrough) => unknown, string]>([
    ['is complete', (sender) => sender.end('body'), 'body'],
    ['is too large', (sender) => sender.write('x'.repeat(LIMIT + 1)), 'TOO_LARGE'],
    ['is cut off', (sender) => sender.destroy(), 'VALIDATION_ERROR'],
    ['stalls', () => jest.advanceTimersByTime(1_000), 'VALIDATION_ERROR'],
  ])('removes its listeners when the body %s', async (_when, act, outcome) => {
    const sender = new PassThrough();
    const request = Object.assign(sender, { headers: {} }) as unknown as IncomingMessage;
    const reception = new Reception(new Budget({ bytes: 1024 }).open('ada'));
    const read = readBody(request, { limit: LIMIT, idleMs: 0, reception });
    expect(jest.getTimerCount()).toBe(1);
    act(sender);
    expect(await read.then(String, ({ code }: { code: string }) => code)).toBe(outcome);
    expect(jest.getTimerCount()).toBe(0);
  });
});
