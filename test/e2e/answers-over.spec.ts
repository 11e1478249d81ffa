import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Config } from '../../src/config/config.js';
import { AnswersInFlight } from '../../src/limits/answers-in-flight.js';
import { waitFor } from '../support/wait-for.js';
import { onResponseClosed } from '../../src/common/http/response-closed.js';
import { UnreadAnswers } from '../../src/limits/unread-answers.js';

const IN_LINE = 4;
const BYTES = 1024 * 1024;

describe('closed responses', () => {
  const config = Config.with({ maxUnreadBytes: 64 * BYTES, maxUserAnswerBytes: 8 * BYTES });
  let server: Server;
  afterEach(() => void server.close());

  /** One request that is never answered, others in line behind it whose answers are ready; then the client is gone. */
  async function goneWith(answered: (request: FastifyRequest, reply: FastifyReply) => void): Promise<void> {
    let asked = 0;
    server = createServer((raw, response) => {
      asked += 1;
      const request = { raw, access: { user: { id: 'ada' } } } as unknown as FastifyRequest;
      answered(request, { raw: response } as unknown as FastifyReply);
      if (asked > 1) response.end('x');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const closed = new Promise<void>((resolve) => {
      server.once('connection', (socket) => socket.once('close', () => setImmediate(resolve)));
    });
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(IN_LINE));
    await waitFor(() => asked === IN_LINE, 'all requests');
    client.destroy();
    await closed;
  }

  it('reports each closed response once, also those queued on a closed connection', async () => {
    let reports = 0;
    await goneWith((_request, { raw }) => onResponseClosed(raw, () => (reports += 1)));
    expect(reports).toBe(IN_LINE);
  });

  it('a closed response, queued or not, no longer counts as unread [REQ-22]', async () => {
    const answers = new UnreadAnswers(config);
    const gone: [FastifyRequest, FastifyReply][] = [];
    await goneWith((request, reply) => {
      answers.send(request, reply, Buffer.alloc(BYTES));
      gone.push([request, reply]);
    });
    expect(answers.held).toBe(0);
    for (const [request, reply] of gone) answers.send(request, reply, Buffer.alloc(BYTES));
    expect(answers.held).toBe(0);
  });

  it('a closed response releases the budget of its turn result, also while queued', async () => {
    const answers = new AnswersInFlight(config);
    await goneWith((_request, { raw }) =>
      answers.reserve({ userId: 'ada', sessionId: 's', turnId: 't' }, BYTES, raw),
    );
    expect(answers.held('ada')).toBe(0);
  });
});
