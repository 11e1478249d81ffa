import { Logger } from '@nestjs/common';
import { DomainError } from '../../common/domain-error.js';
import { sqliteCode } from './errors.js';

/** SQLite errors of the disk, not of the statement: a retry may succeed later. */
const FAULT = /^SQLITE_(FULL|IOERR|CANTOPEN|READONLY|BUSY|PROTOCOL)/;
const RETRY_AFTER_SECONDS = 5;
/** Minimum interval of log entries, ms: a failing disk fails many times a second. */
const LOG_INTERVAL_MS = 10_000;

const FULL = 'The disk of the server is full: nothing was stored. Try again once its operator has made room.';
const FAILING =
  'The disk of the server fails: nothing was stored. Try again once its operator has repaired it.';

/** Tracks whether the disk works. Callers get UNAVAILABLE; the log gets the cause, and the recovery. */
export class DiskState {
  private readonly logger = new Logger('Storage');
  private failedAt = -Infinity;
  private loggedAt = -Infinity;

  /** The error to show to a caller: UNAVAILABLE for a disk error, else unchanged. */
  explain(error: unknown): unknown {
    const code = sqliteCode(error);
    if (!FAULT.test(code)) return error;
    this.failedAt = performance.now();
    if (this.failedAt - this.loggedAt >= LOG_INTERVAL_MS) {
      this.loggedAt = this.failedAt;
      this.logger.error({ code, reason: (error as Error).message }, 'The disk cannot be written');
    }
    const message = code.startsWith('SQLITE_FULL') ? FULL : FAILING;
    return new DomainError('UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  /** Records a committed write. */
  recordSuccess(): void {
    if (this.loggedAt === -Infinity || performance.now() - this.failedAt < LOG_INTERVAL_MS) return;
    this.loggedAt = -Infinity;
    this.logger.log('The disk can be written again');
  }
}
