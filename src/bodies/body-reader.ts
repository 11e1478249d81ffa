import { Injectable } from '@nestjs/common';
import { parseScannedJson } from '@patchbay/protocol';
import type { AccessedRequest } from '../common/access.js';
import { ClientAddresses } from '../common/http/client-address.js';
import { DomainError } from '../common/domain-error.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { Config } from '../config/config.js';
import { UserJobs } from '../jobs/user-jobs.js';
import { WorkPool } from '../jobs/work-pool.js';
import { readBody } from './read-body.js';
import { Receiving, type Reception } from './receiving.js';
import { malformed, SCAN_BODY } from './scan-body-job.js';

/** Whoever shows no token gets no more of our memory than it takes to register or log in. */
const ANONYMOUS_BODY_BYTES = 64 * 1024;

/** A larger JSON body is read and handled when the user's large one before it is done: each is several times its size. */
const LARGE_BYTES = 128 * 1024;

/** A longer JSON body is parsed when others have had their turn: of forty that come at once each takes milliseconds. */
const SHORT_BYTES = 16 * 1024;

/** Reads bodies under the bounds of their sender: how large, how much at once, how slow, how much in them. */
@Injectable()
export class BodyReader {
  constructor(
    private readonly config: Config,
    private readonly receiving: Receiving,
    private readonly pool: WorkPool,
    private readonly jobs: UserJobs,
    private readonly addresses: ClientAddresses,
  ) {}

  /** Where the sender's bytes are counted until it is released. */
  open(request: AccessedRequest): Reception {
    return this.receiving.open(this.ownerOf(request));
  }

  /** A body of any type: at most one file. */
  raw(request: AccessedRequest, reception: Reception): Promise<Buffer> {
    return this.bytes(request, this.config.maxFileBytes, reception);
  }

  /** The value of a JSON body, undefined where it is empty. A large one is scanned on a worker, in its sender's turn. */
  async json(request: AccessedRequest, reception: Reception): Promise<unknown> {
    const { maxBodyBytes } = this.config;
    const limit = request.access?.user ? maxBodyBytes : Math.min(maxBodyBytes, ANONYMOUS_BODY_BYTES);
    const isRead = isJson(request.contentType);
    const bytes = await this.bytes(request, limit, reception);
    if (bytes.length === 0) return undefined;
    if (!isRead) throw unsupported('The body must be application/json in UTF-8');
    const owner = this.ownerOf(request);
    // Asked now: what goes to a worker is gone from here.
    const { length } = bytes;
    if (length > LARGE_BYTES) reception.hold(await this.jobs.enter(owner, 'bodies'));
    const { text, lossy } = await this.pool.run(owner, SCAN_BODY, bytes, {
      bytes: length,
      transfer: ownBuffer(bytes),
    });
    if (length > SHORT_BYTES) await yieldIfBusy();
    try {
      return parseScannedJson(text, lossy);
    } catch {
      throw malformed('is not valid JSON');
    }
  }

  private ownerOf({ access, raw }: AccessedRequest): string {
    return this.addresses.ownerOf(raw, access?.user?.id);
  }

  private bytes(request: AccessedRequest, limit: number, reception: Reception): Promise<Buffer> {
    return readBody(request.raw, { limit, idleMs: this.config.bodyIdleMs, reception });
  }
}

/** The memory of a body, unless it shares that with other buffers. */
function ownBuffer({ buffer, byteLength }: Buffer): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}

/** JSON is UTF-8; the parameter that says so is allowed, another charset is not. */
function isJson(contentType: string | undefined): boolean {
  const [type = '', ...parameters] = (contentType ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  return (
    type === 'application/json' &&
    parameters.every(
      (parameter) => !parameter.startsWith('charset=') || /^charset="?utf-?8"?$/.test(parameter),
    )
  );
}

/** A body in a form that is not read. */
export function unsupported(message: string): DomainError {
  return new DomainError('UNSUPPORTED_MEDIA_TYPE', message);
}
