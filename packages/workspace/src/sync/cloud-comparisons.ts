import type { ChangedFile } from '@patchbay/protocol';
import type { CloudView } from './cloud-view.js';
import type { DifferenceReport } from './difference-report.js';
import type { Rounds } from './rounds.js';

/** Interval in ms of full comparisons, because a change event may be lost. */
const INTERVAL_MS = 300_000;
const RETRY_MS = 3_000;

/** Compares a folder with the Cloud between its other rounds: on request, after failures and periodically. */
export class CloudComparisons {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly cloud: CloudView,
    private readonly rounds: Rounds,
    private readonly report: DifferenceReport,
    private readonly signal: AbortSignal,
  ) {}

  compareAll(): void {
    this.enqueue(() => this.cloud.compareAll(this.signal)).then(
      () => this.schedule(INTERVAL_MS),
      () => this.schedule(RETRY_MS),
    );
  }

  /** After a failure, a comparison of all files finds the missed changes. One that is scheduled stays scheduled. */
  compareFiles(files: readonly ChangedFile[]): void {
    this.enqueue(() => this.cloud.compareFiles(files)).catch(() => this.schedule(RETRY_MS));
  }

  end(): void {
    clearTimeout(this.timer);
  }

  private enqueue(compare: () => Promise<void>): Promise<void> {
    return this.rounds.enqueue(async () => {
      await compare();
      this.report.sendStatus();
    });
  }

  private schedule(pauseMs: number): void {
    clearTimeout(this.timer);
    if (this.signal.aborted) return;
    this.timer = setTimeout(() => this.compareAll(), pauseMs).unref();
  }
}
