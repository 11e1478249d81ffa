import { write, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import type { DestinationStream } from 'pino';

/** Maximum number of bytes that wait for a slow reader; lines beyond that are dropped. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
/** Delay before a full pipe is tried again, ms. */
const RETRY_MS = 100;
const WARN = 40;

/**
 * Writes log lines to a file descriptor without ever blocking. Lines that cannot be written (full disk, closed pipe,
 * slow reader) are dropped, and the next written line reports their number.
 */
export class LogOutput implements DestinationStream {
  private waiting: string[] = [];
  private waitingBytes = 0;
  /** The bytes being written, and the number of their lines. */
  private chunk: { rest: Buffer; lines: number } | null = null;
  /** A write is in progress. */
  private isWriting = false;
  /** The last line was written in part. */
  private isTorn = false;
  private dropped = 0;
  private reason = '';

  constructor(private readonly fd: number) {}

  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.waitingBytes + bytes > MAX_WAITING_BYTES) return this.drop(1, 'too slow');
    this.waiting.push(line);
    this.waitingBytes += bytes;
    if (this.chunk === null) this.next();
  }

  /** Writes as much as possible synchronously, at the end of the process. */
  flush(): void {
    const rest = this.chunk !== null && !this.isWriting ? [this.chunk.rest] : [];
    let bytes = Buffer.concat([...rest, Buffer.from(this.waiting.join(''))]);
    this.waiting = [];
    try {
      while (bytes.length > 0) bytes = bytes.subarray(writeSync(this.fd, bytes));
    } catch {
      // The process is ending; there is nowhere to report this.
    }
  }

  private next(): void {
    const lines = this.waiting.length;
    if (lines === 0) return;
    const { dropped } = this;
    const text = [
      ...(this.isTorn ? ['\n'] : []),
      ...(dropped > 0 ? [this.account()] : []),
      ...this.waiting,
    ].join('');
    [this.waiting, this.waitingBytes] = [[], 0];
    this.chunk = { rest: Buffer.from(text), lines };
    this.put(this.chunk, dropped);
  }

  /** @param reported number of dropped lines that the chunk reports */
  private put(chunk: { rest: Buffer; lines: number }, reported: number): void {
    this.isWriting = true;
    write(this.fd, chunk.rest, (error, written) => {
      this.isWriting = false;
      if (error?.code === 'EAGAIN') return void setTimeout(() => this.put(chunk, reported), RETRY_MS).unref();
      if (error) this.drop(chunk.lines, error.code ?? error.message);
      else {
        chunk.rest = chunk.rest.subarray(written);
        this.isTorn = chunk.rest.length > 0;
        if (this.isTorn) return this.put(chunk, reported);
        this.dropped -= reported;
      }
      this.chunk = null;
      this.next();
    });
  }

  private drop(lines: number, reason: string): void {
    this.dropped += lines;
    this.reason = reason;
  }

  private account(): string {
    const { dropped, reason } = this;
    const origin = { level: WARN, time: Date.now(), pid: process.pid, hostname: hostname() };
    return `${JSON.stringify({ ...origin, dropped, reason, msg: 'Log lines were dropped' })}\n`;
  }
}

let output: LogOutput | null = null;

/** The log of this process. */
export function standardOutput(): LogOutput {
  if (output === null) {
    // Reading `process.stdout` makes a pipe non-blocking, so that a stalled reader blocks no thread.
    const created = new LogOutput(process.stdout.fd);
    process.once('exit', () => created.flush());
    output = created;
  }
  return output;
}
