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

/** Requests without a token may only send what registration and login need. */
const ANONYMOUS_BODY_BYTES = 64 * 1024;

/** A larger JSON body waits for the user's previous large body: parsed, each takes several times its size. */
const LARGE_BYTES = 128 * 1024;

/** A longer JSON body yields before it is parsed: forty that arrive at once take milliseconds each. */
const SHORT_BYTES = 16 * 1024;

/** Reads bodies within the bounds of their sender: size, total bytes, speed and content. */
@Injectable()
export class BodyReader {
  constructor(
    private readonly config: Config,
    private readonly receiving: Receiving,
    private readonly pool: WorkPool,
    private readonly jobs: UserJobs,
    private readonly addresses: ClientAddresses,
  ) {}

  /** Starts to count the body's bytes for its sender until the reception is released. */
  open(request: AccessedRequest): Reception {
    return this.receiving.open(this.ownerOf(request));
  }

  /** Reads a body of any type, up to the size limit of one file. */
  raw(request: AccessedRequest, reception: Reception): Promise<Buffer> {
    return this.bytes(request, this.config.maxFileBytes, reception);
  }

  /** Parses a JSON body; undefined if it is empty. A large one is scanned on a worker when it is its sender's turn. */
  async json(request: AccessedRequest, reception: Reception): Promise<unknown> {
    const { maxBodyBytes } = this.config;
    const limit = request.access?.user ? maxBodyBytes : Math.min(maxBodyBytes, ANONYMOUS_BODY_BYTES);
    const isRead = isJson(request.contentType);
    const bytes = await this.bytes(request, limit, reception);
    if (bytes.length === 0) return undefined;
    if (!isRead) throw unsupported('The body must be application/json in UTF-8');
    const owner = this.ownerOf(request);
    // Read before the job: a buffer that is transferred to a worker has length 0 afterwards.
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

/** The buffer to transfer to a worker; none if the body shares its memory with other buffers. */
function ownBuffer({ buffer, byteLength }: Buffer): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}

/** JSON is UTF-8; a charset parameter may say so, but no other charset is accepted. */
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

/** The error for a content type or charset that is not supported. */
export function unsupported(message: string): DomainError {
  return new DomainError('UNSUPPORTED_MEDIA_TYPE', message);
}
