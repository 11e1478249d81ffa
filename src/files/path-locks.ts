import { Injectable } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';
import { KeyLocks } from '../common/key-locks.js';
import type { ChangeOrigin } from './change-origin.js';
import type { CloudPath } from './cloud-path.js';

/** Retries of a write that loses a race with another process. */
const ATTEMPTS = 50;

/**
 * Queues the writers of one path in this process, so that they do not race. Between processes the store's revision
 * check decides.
 */
@Injectable()
export class PathLocks {
  private readonly locks = new KeyLocks();

  /** Runs a change under the locks of its paths; repeats it while it returns null because its input changed. */
  attempt<T>(
    { workspaceId }: ChangeOrigin,
    targets: readonly Pick<CloudPath, 'docPath'>[],
    change: () => Promise<T | null>,
  ): Promise<T> {
    const keys = targets.map(({ docPath }) => `${workspaceId}/${docPath}`);
    return this.locks.hold(keys, async () => {
      for (let left = ATTEMPTS; left > 0; left -= 1) {
        const done = await change();
        if (done !== null) return done;
      }
      throw new DomainError('UNAVAILABLE', 'Too many writers at this path; try again.');
    });
  }
}
