import { EventEmitter } from 'node:events';
import { jest } from '@jest/globals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Config } from '../config/config.js';
import { UnreadAnswers } from './unread-answers.js';

const MIB = 1024 * 1024;

/** A response that is unread until the test ends it. */
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

describe('UnreadAnswers', () => {
  const answers = new UnreadAnswers(Config.with({ maxUnreadBytes: 16 * MIB, answerMs: 1_000 }));
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  function send(user: string, payload: unknown, to = answers): Answer {
    const raw = new Answer();
    to.send(requestOf(user), { raw } as unknown as FastifyReply, payload);
    return raw;
  }

  it('closes a connection after a fixed time plus one second per 64 KiB of the response [REQ-22]', () => {
    const [small, large] = [send('ada', 'x'), send('ada', Buffer.alloc(MIB))];
    jest.advanceTimersByTime(1_001);
    expect([small.destroyed, large.destroyed]).toEqual([true, false]);
    jest.advanceTimersByTime(16_000);
    expect(large.destroyed).toBe(true);
  });

  it('limits one user to a part of the unused budget, and always admits a single response [REQ-22]', () => {
    const first = send('ada', Buffer.alloc(6 * MIB));
    expect(() => send('ada', Buffer.alloc(MIB))).toThrow('were not read yet');
    const other = send('ben', Buffer.alloc(MIB));
    expect(() => send('eve', Buffer.alloc(1.5 * MIB))).toThrow('wait to be read');
    send('ada', 'what is small is always sent').destroy();
    first.destroy();
    send('ada', Buffer.alloc(1.5 * MIB)).destroy();
    other.destroy();
  });

  it('counts responses before they are prepared, however many are requested at once [REQ-22]', () => {
    const first = new Answer();
    const reply = { raw: first } as unknown as FastifyReply;
    answers.expect(requestOf('ada'), reply, 1.5 * MIB);
    expect(() => send('ada', Buffer.alloc(MIB))).toThrow('were not read yet');
    // The actual size is smaller, and leaves room for another.
    answers.send(requestOf('ada'), reply, Buffer.alloc(MIB / 2));
    const second = send('ada', Buffer.alloc(MIB));
    expect(answers.held).toBe(1.5 * MIB);
    first.destroy();
    second.destroy();
    expect(answers.held).toBe(0);
  });

  it('has room for another user’s largest file while ten users read none of theirs [REQ-22]', () => {
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
