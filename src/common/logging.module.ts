import type { DynamicModule } from '@nestjs/common';
import { Logger, LoggerModule } from 'nestjs-pino';
import type { DestinationStream } from 'pino';
import type { Options } from 'pino-http';
import { Config } from '../config/config.js';

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

/** Structured logs on stdout, every line of a request under its id. No URL, header or body is ever in them. */
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
    redact: { paths: SECRETS.flatMap((name) => [name, `*.${name}`]), censor: '[secret]' },
    // `logRequests` tells of a request, with its route: a URL may hold paths of files.
    autoLogging: false,
    serializers: { req: ({ id }: { id: string }) => ({ id }) },
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
