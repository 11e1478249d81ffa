import { Logger } from '@nestjs/common';
import { DomainError } from '../../common/domain-error.js';
import { sqliteCode } from './errors.js';

/** What SQLite says where the disk is at fault and not the statement: the same may well succeed later. */
const FAULT = /^SQLITE_(FULL|IOERR|CANTOPEN|READONLY|BUSY|PROTOCOL)/;
const RETRY_AFTER_SECONDS = 5;
/** A disk that fails does so many times a second: the log has it so seldom. */
const TELL_EVERY_MS = 10_000;

const FULL = 'The disk of the server is full: nothing was stored. Try again once its operator has made room.';
const FAILING =
  'The disk of the server fails: nothing was stored. Try again once its operator has repaired it.';

/** Whether the disk does its work. Tells callers that it does not, and the log why, and when it does again. */
export class DiskState {
  private readonly logger = new Logger('Storage');
  private failedAt = -Infinity;
  private toldAt = -Infinity;

  /** The error as a caller may see it: UNAVAILABLE where it is the disk's, otherwise as it is. */
  explain(error: unknown): unknown {
    const code = sqliteCode(error);
    if (!FAULT.test(code)) return error;
    this.failedAt = performance.now();
    if (this.failedAt - this.toldAt >= TELL_EVERY_MS) {
      this.toldAt = this.failedAt;
      this.logger.error({ code, reason: (error as Error).message }, 'The disk cannot be written');
    }
    const message = code.startsWith('SQLITE_FULL') ? FULL : FAILING;
    return new DomainError('UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  /** Notes a write that was committed. */
  worked(): void {
    if (this.toldAt === -Infinity || performance.now() - this.failedAt < TELL_EVERY_MS) return;
    this.toldAt = -Infinity;
    this.logger.log('The disk can be written again');
  }
}
