import { type FolderStatus } from '@patchbay/protocol';
import { type Difference, Differences } from './differences.js';
import type { FolderState } from './folder-state.js';
import type { SyncReport } from './sync-report.js';

/** The receivers of a live folder's differences. */
export interface DifferenceEvents {
  /** Called once per difference that the user should know of. */
  onDifference?: (difference: Difference) => void;
  /** Called when the status for the server has changed. */
  onStatus?: (status: FolderStatus) => void;
}

/** Reports each difference of a folder once, and its status whenever that changes. */
export class DifferenceReport {
  readonly differences = new Differences();
  private lastStatus = '';

  constructor(
    private readonly docPath: string,
    private readonly state: FolderState,
    private readonly events: DifferenceEvents,
  ) {}

  readonly add = (difference: Difference): void => {
    if (this.differences.note(difference)) this.events.onDifference?.(difference);
  };

  addUnsent({ unsent }: SyncReport, isHeld: (docPath: string) => boolean): void {
    const found = unsent.map(({ path, docPath, remote, reason }): Difference => {
      return { path, docPath, cloudPath: `/${docPath}`, base: remote, remote, kind: 'unsent', reason };
    });
    for (const difference of this.differences.noteUnsent(found, isHeld))
      this.events.onDifference?.(difference);
  }

  sendStatus(): void {
    this.differences.settle(this.state);
    const status = this.differences.statusOf(this.docPath);
    const text = JSON.stringify(status);
    if (text === this.lastStatus) return;
    this.lastStatus = text;
    this.events.onStatus?.(status);
  }
}
