import { type DynamicModule, Global, type LoggerService, Module } from '@nestjs/common';
import type { DestinationStream, LoggerOptions } from 'pino';
import { Config } from '../config/config.js';
import { standardOutput } from './log-output.js';
import { type LogLevel, PinoLogger, ServerLog } from './pino-logger.js';

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

/** Provides a PinoLogger per class. */
@Global()
@Module({ providers: [PinoLogger], exports: [PinoLogger] })
export class LoggingModule {}

/** Structured logs on stdout; every entry of a request has its id. They never contain a URL, header or body. */
export function loggingModule(destination?: DestinationStream): DynamicModule {
  const log = {
    provide: ServerLog,
    inject: [Config],
    useFactory: ({ logLevel }: Config) =>
      new ServerLog(logOptions(logLevel), destination ?? standardOutput()),
  };
  return { module: LoggingModule, providers: [log], exports: [ServerLog] };
}

function logOptions(level: string): LoggerOptions {
  return {
    level,
    redact: { paths: SECRETS.flatMap((name) => [name, `*.${name}`]), censor: '[secret]' },
  };
}

/** The contexts in which Nest logs its wiring; useful to developers, not to operators. */
const STARTUP_CONTEXTS = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'WebSocketsController',
  'NestApplication',
]);

/** A stack, which Nest's exception handlers pass like any other parameter. */
const STACK = /\n\s*at /;

/** Nest's own logger: the last parameter of a call is the class. Startup messages are logged at `debug`. */
export class ServerLogger implements LoggerService {
  constructor(private readonly server: ServerLog) {}

  verbose(message: unknown, ...parameters: unknown[]): void {
    this.write('trace', message, parameters);
  }

  debug(message: unknown, ...parameters: unknown[]): void {
    this.write('debug', message, parameters);
  }

  log(message: unknown, ...parameters: unknown[]): void {
    const context = parameters.at(-1);
    const isStartup = typeof context === 'string' && STARTUP_CONTEXTS.has(context);
    this.write(isStartup ? 'debug' : 'info', message, parameters);
  }

  warn(message: unknown, ...parameters: unknown[]): void {
    this.write('warn', message, parameters);
  }

  /** Nest both logs and throws startup errors, such as a port in use; one of the two is enough. */
  error(message: unknown, ...parameters: unknown[]): void {
    this.write(parameters.at(-1) === 'NestApplication' ? 'debug' : 'error', message, parameters);
  }

  fatal(message: unknown, ...parameters: unknown[]): void {
    this.write('fatal', message, parameters);
  }

  private write(level: LogLevel, message: unknown, parameters: unknown[]): void {
    const context = parameters.at(-1) as string | undefined;
    const [text] = parameters.slice(0, -1);
    const hasStack = typeof message === 'string' && typeof text === 'string' && STACK.test(text);
    const logged = hasStack ? Object.assign(new Error(message), { stack: text }) : message;
    if (typeof logged === 'object' && logged !== null)
      this.server.write(level, context, typeof text === 'string' && !hasStack ? [logged, text] : [logged]);
    else this.server.write(level, context, [String(logged)]);
  }
}
