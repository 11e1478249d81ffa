import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable, Scope } from '@nestjs/common';
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/** A message, or fields (an Error is the field `err`) with a message. */
export type LogArguments = [message: string] | [fields: object, message?: string];

/** The log of one server. Lines of a request carry its id. */
export class ServerLog {
  private readonly logger: Logger;
  private readonly requestIds = new AsyncLocalStorage<string>();

  constructor(options: LoggerOptions, destination: DestinationStream) {
    this.logger = pino(options, destination);
  }

  /** Runs the work of a request. */
  ofRequest(id: string, work: () => void): void {
    this.requestIds.run(id, work);
  }

  write(level: LogLevel, context: string | undefined, args: LogArguments): void {
    if (!this.logger.isLevelEnabled(level)) return;
    const id = this.requestIds.getStore();
    const [first, ...message] = args;
    const about = { ...(id !== undefined && { req: { id } }), context };
    if (typeof first === 'string') this.logger[level](about, first);
    else this.logger[level]({ ...about, ...(first instanceof Error ? { err: first } : first) }, ...message);
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
