import type { DynamicModule } from '@nestjs/common';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { LoggerModule } from 'nestjs-pino';
import type { DestinationStream } from 'pino';
import type { Options } from 'pino-http';
import { Config } from '../config.js';
import { newId } from './ids.js';

const SECRETS = [
  'authorization',
  'cookie',
  'password',
  'passwordHash',
  'token',
  'accessToken',
  'refreshToken',
  'jwtSecret',
];

/** Structured logs on stdout, every line of a request under its id. No header, query or body is ever in them. */
export function loggingModule(destination?: DestinationStream): DynamicModule {
  return LoggerModule.forRootAsync({
    inject: [Config],
    useFactory: ({ logLevel }: Config) => {
      const options = httpLogging(logLevel);
      return { pinoHttp: destination ? [options, destination] : options };
    },
  });
}

function httpLogging(level: string): Options {
  return {
    level,
    redact: { paths: SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[secret]' },
    genReqId: requestId,
    serializers: {
      req: (request: { id: string; method: string; url: string }) => ({
        id: request.id,
        method: request.method,
        url: request.url.split('?', 1)[0],
      }),
      res: (response: { statusCode: number }) => ({ statusCode: response.statusCode }),
    },
    autoLogging: { ignore: (request) => request.url?.startsWith('/health/') ?? false },
    // What went well is told by the audit trail; at `info` the log holds what did not.
    customLogLevel: (_request, { statusCode }, error) => {
      if (error || statusCode >= 500) return 'error';
      return statusCode >= 400 ? 'info' : 'debug';
    },
  };
}

/** The caller's own id where it is harmless to log, so that its log and ours can be joined. */
function requestId(request: IncomingMessage, response: ServerResponse): string {
  const given = request.headers['x-request-id'];
  const id = typeof given === 'string' && /^[\w.:-]{1,64}$/.test(given) ? given : newId();
  response.setHeader('X-Request-Id', id);
  return id;
}
