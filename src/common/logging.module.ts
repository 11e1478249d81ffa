import type { DynamicModule } from '@nestjs/common';
import { Logger, LoggerModule } from 'nestjs-pino';
import type { DestinationStream } from 'pino';
import type { Options } from 'pino-http';
import { Config } from '../config/config.js';
import { standardOutput } from './log-output.js';

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
      return { pinoHttp: [httpLogging(logLevel), destination ?? standardOutput()] };
    },
  });
}

function httpLogging(level: string): Options {
  return {
    level,
    redact: { paths: SECRETS.flatMap((name) => [name, `*.${name}`]), censor: '[secret]' },
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

/** Where Nest tells how it wires itself: of use to whoever builds the server, not to whoever runs it. */
const WIRING = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'WebSocketsController',
  'NestApplication',
]);

/** The application's logger, with Nest's own account of its start at `debug`. */
export class ServerLogger extends Logger {
  override log(message: unknown, ...parameters: unknown[]): void {
    const context = parameters.at(-1);
    if (typeof context === 'string' && WIRING.has(context)) super.debug(message, ...parameters);
    else super.log(message, ...parameters);
  }

  /** What the application can't do it logs and throws as well: a port that is taken, say. Once is enough. */
  override error(message: unknown, ...parameters: unknown[]): void {
    if (parameters.at(-1) === 'NestApplication') super.debug(message, ...parameters);
    else super.error(message, ...parameters);
  }
}
