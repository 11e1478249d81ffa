import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable, Scope } from '@nestjs/common';
import type { DestinationStream, Logger } from 'pino';
import { type HttpLogger, type Options, pinoHttp } from 'pino-http';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/** A message, or fields (an Error is the field `err`) with a message. */
export type LogArguments = [message: string] | [fields: object, message?: string];

/** The log of one server, and the middleware that gives each request a logger with its id. */
export class ServerLog {
  private readonly http: HttpLogger;
  private readonly ofRequest = new AsyncLocalStorage<Logger>();

  constructor(options: Options, destination: DestinationStream) {
    this.http = pinoHttp(options, destination);
  }

  readonly middleware = (request: IncomingMessage, response: ServerResponse, next: () => void): void =>
    // `request.log` is Fastify's own; the newest of `allLogs` is the one just created.
    this.http(request, response, () => this.ofRequest.run(request.allLogs.at(-1)!, next));

  write(level: LogLevel, context: string | undefined, args: LogArguments): void {
    const logger = this.ofRequest.getStore() ?? this.http.logger;
    const [first, ...message] = args;
    const fields = first instanceof Error ? { err: first } : first;
    if (typeof fields === 'string') logger[level]({ context }, fields);
    else logger[level]({ context, ...fields }, ...message);
  }
}

/** The logger of one class; its lines carry the id of the current request, if any. */
@Injectable({ scope: Scope.TRANSIENT })
export class PinoLogger {
  private context: string | undefined;

  constructor(private readonly log: ServerLog) {}

  /** Sets the class name of every line. */
  setContext(context: string): void {
    this.context = context;
  }

  debug(...args: LogArguments): void {
    this.log.write('debug', this.context, args);
  }

  info(...args: LogArguments): void {
    this.log.write('info', this.context, args);
  }

  warn(...args: LogArguments): void {
    this.log.write('warn', this.context, args);
  }

  error(...args: LogArguments): void {
    this.log.write('error', this.context, args);
  }
}
