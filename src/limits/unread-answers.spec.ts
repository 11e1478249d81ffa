import { EventEmitter } from 'node:events';
import { jest } from '@jest/globals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Config } from '../config/config.js';
import { UnreadAnswers } from './unread-answers.js';

const MIB = 1024 * 1024;

/** An answer that nobody reads until a test says so. */
class Answer extends EventEmitter {
  destroyed = false;
  readonly closed = false;
  readonly req = { socket: Object.assign(new EventEmitter(), { destroy: () => this.destroy() }) };

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

const requestOf = (user: string) => ({ access: { user: { id: user } } }) as unknown as FastifyRequest;

describe('answers that wait for their readers', () => {
  const answers = new UnreadAnswers(Config.with({ maxUnreadBytes: 16 * MIB, answerMs: 1_000 }));
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  function send(user: string, payload: unknown, to = answers): Answer {
    const raw = new Answer();
    to.send(requestOf(user), { raw } as unknown as FastifyReply, payload);
    return raw;
  }

  it('have some time, and a second more for each 64 KiB [REQ-22]', () => {
    const [small, large] = [send('ada', 'x'), send('ada', Buffer.alloc(MIB))];
    jest.advanceTimersByTime(1_001);
    expect([small.destroyed, large.destroyed]).toEqual([true, false]);
    jest.advanceTimersByTime(16_000);
    expect(large.destroyed).toBe(true);
  });

  it('of one user are a part of what others leave, and one that stands alone is always sent [REQ-22]', () => {
    const first = send('ada', Buffer.alloc(6 * MIB));
    expect(() => send('ada', Buffer.alloc(MIB))).toThrow('were not read yet');
    const other = send('ben', Buffer.alloc(MIB));
    expect(() => send('eve', Buffer.alloc(1.5 * MIB))).toThrow('wait to be read');
    send('ada', 'what is small is always sent').destroy();
    first.destroy();
    send('ada', Buffer.alloc(1.5 * MIB)).destroy();
    other.destroy();
  });

  it('count from before they are put together, however many are asked for at once [REQ-22]', () => {
    const first = new Answer();
    const reply = { raw: first } as unknown as FastifyReply;
    answers.expect(requestOf('ada'), reply, 1.5 * MIB);
    expect(() => send('ada', Buffer.alloc(MIB))).toThrow('were not read yet');
    // It turns out to be smaller, and leaves room for another.
    answers.send(requestOf('ada'), reply, Buffer.alloc(MIB / 2));
    const second = send('ada', Buffer.alloc(MIB));
    expect(answers.held).toBe(1.5 * MIB);
    first.destroy();
    second.destroy();
    expect(answers.held).toBe(0);
  });

  it('leave room for another’s largest file while ten users read none of theirs [REQ-22]', () => {
    const all = new UnreadAnswers(Config.with({}));
    const file = Buffer.alloc(8 * MIB);
    const held: Answer[] = [];
    const greedy = (user: string): boolean => {
      try {
        held.push(send(user, file, all));
        return true;
      } catch {
        return false;
      }
    };
    for (let users = 0; users < 10; users += 1) while (greedy(`greedy ${users}`));
    expect(() => send('greedy 0', file, all)).toThrow('were not read yet');
    send('modest', file, all).destroy();
    for (const answer of held) answer.destroy();
    expect(all.held).toBe(0);
  });
});
