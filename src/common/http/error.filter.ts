import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { answerOf, type ErrorAnswer } from './error-answer.js';

/** Answers every error of an HTTP request, including those of unknown routes and of Fastify itself. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('Http');

  catch(error: unknown, host: ArgumentsHost): void {
    // The gateway handles the errors of its events; any other error must not end the process.
    if (host.getType() !== 'http') {
      this.logger.error(error);
      return;
    }
    const answer = answerOf(error);
    if (answer.unexpected) this.logger.error(error);
    sendError(host.switchToHttp().getResponse<FastifyReply>(), answer);
  }
}

/** Sends the response. If one has begun, the connection is destroyed, so that no client takes it for complete. */
export function sendError(reply: FastifyReply, answer: ErrorAnswer): void {
  reply.errorCode = answer.body.code;
  reply.logged = answer.logged ?? null;
  if (reply.sent || reply.raw.headersSent) {
    reply.raw.destroy();
    return;
  }
  if (answer.retryAfterSeconds !== undefined) {
    void reply.header('Retry-After', Math.max(1, Math.ceil(answer.retryAfterSeconds)));
  }
  if (answer.status === 401) void reply.header('WWW-Authenticate', 'Bearer');
  void reply
    .status(answer.status)
    .header('Content-Type', 'application/json; charset=utf-8')
    .header('Cache-Control', 'no-store')
    .send(answer.body);
}
