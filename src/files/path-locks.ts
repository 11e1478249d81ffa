import { Injectable } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';
import { KeyLocks } from '../common/key-locks.js';
import type { ChangeOrigin } from './change-origin.js';
import type { CloudPath } from './cloud-path.js';

/** Between processes a write may lose its race; so often it tries again on what is there then. */
const ATTEMPTS = 50;

/**
 * Lets the writers of one path in this process take turns, so that a crowd on one path costs a write each and not a
 * race each. Between processes the store's guard decides.
 */
@Injectable()
export class PathLocks {
  private readonly locks = new KeyLocks();

  /** Runs a change under the locks of its paths, again while it gives null because what it had read has changed. */
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
