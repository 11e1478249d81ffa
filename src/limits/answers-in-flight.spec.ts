import { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import type { ResponseHandle } from '../common/http/response-closed.js';
import { Config } from '../config/config.js';
import { AnswersInFlight } from './answers-in-flight.js';

/** A response that is sent when the test calls `end`. */
class Answer extends EventEmitter {
  closed = false;
  readonly req = { socket: new Socket() };
  end(): void {
    this.closed = true;
    this.emit('close');
  }
}

describe('AnswersInFlight', () => {
  const answers = new AnswersInFlight(Config.with({ maxUserAnswerBytes: 100 }));
  const take = (user: string, bytes: number): Answer => {
    const answer = new Answer();
    answers.reserve(
      { userId: user, sessionId: 's', turnId: 't' },
      bytes,
      answer as unknown as ResponseHandle,
    );
    return answer;
  };

  it('limits the bytes of one user without affecting other users', () => {
    const first = take('ada', 60);
    expect(() => take('ada', 60)).toThrow(
      expect.objectContaining({ code: 'RATE_LIMITED', extras: { retryAfterSeconds: 1 } }) as Error,
    );
    take('ben', 90).end();
    take('ada', 40).end();
    first.end();
    take('ada', 90).end();
  });

  it('admits a single response of any size, and counts it until it is sent', () => {
    const large = take('ada', 1_000);
    expect(() => take('ada', 1)).toThrow('read those first');
    take('ada', 0);
    large.end();
    take('ada', 100).end();
  });
});
