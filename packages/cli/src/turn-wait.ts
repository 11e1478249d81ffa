import type { TurnOutcome, WorkspaceClient } from '@patchbay/client';
import type { ResultFormat } from '@patchbay/protocol';
import type { InvokeResult, TurnEnvelope } from '@patchbay/protocol';
import { printableJson, printableLine } from './approval/printable.js';
import { CliError, EXIT } from './cli-error.js';
import { interruptible } from './interrupts.js';
import type { CliIo } from './settings.js';
import { TurnNews } from './turn-news.js';

/** How long the server may hold an answer, in ms, where nobody reads along. */
const POLL_MS = 30_000;
/** How often it is looked what a turn waits for, in ms, where somebody does. */
const LOOK_MS = 1_000;
/** Longest that a timer can be set for. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface WaitOptions {
  /** Longest wait in all, in ms; null: to the end of the turn. */
  waitMs: number | null;
  resultFormat?: ResultFormat | null | undefined;
}

/** Waits for a turn, and tells who reads along at a terminal what it waits for. */
export class TurnWait {
  private readonly startedAt = Date.now();
  private readonly news: TurnNews | null;

  constructor(
    private readonly workspace: WorkspaceClient,
    { stderr }: Pick<CliIo, 'stderr'>,
    private readonly options: WaitOptions,
  ) {
    this.news = stderr.isTTY ? new TurnNews(workspace, stderr) : null;
  }

  /** How long the server may hold its first answer, in ms. */
  get firstWaitMs(): number {
    return Math.min(this.options.waitMs ?? POLL_MS, this.everyMs);
  }

  private get everyMs(): number {
    return this.news ? LOOK_MS : POLL_MS;
  }

  /** The turn at its end, or as it stands when the time is up. */
  async untilEnded(turn: TurnOutcome, signal: AbortSignal): Promise<TurnOutcome> {
    const { sessionId, turnId } = turn;
    let latest = turn;
    await this.news?.tell(latest);
    const { resultFormat, waitMs } = this.options;
    const left = waitMs === null ? null : this.startedAt + waitMs - Date.now();
    if (latest.kind === 'final' || (left !== null && left <= 0)) return latest;
    const timeUp = left === null ? null : AbortSignal.timeout(Math.min(left, MAX_TIMER_MS));
    const either = timeUp ? AbortSignal.any([signal, timeUp]) : signal;
    const how = { everyMs: this.everyMs, resultFormat, signal: either };
    try {
      for await (latest of this.workspace.followTurn(sessionId, turnId, how)) await this.news?.tell(latest);
      return latest;
    } catch (error) {
      if (signal.aborted || !timeUp?.aborted) throw error;
      return this.workspace.getTurn(sessionId, turnId, { resultFormat, signal });
    }
  }
}

/** Does what posts or follows a turn; where it is interrupted, says how the turn is gone on with. */
export function unlessInterrupted<T>(
  turnId: string | null,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return interruptible(work, () => {
    const how = turnId === null ? '' : ` Turn ${printableLine(turnId)} goes on. ${howToGoOn(turnId)}`;
    throw new CliError(`Interrupted.${how}`, EXIT.interrupted);
  });
}

/** Prints a turn as the server answers it; gives the exit code that it stands for. */
export function printTurn({ warnings, ...result }: TurnOutcome, io: Pick<CliIo, 'stdout'>): number {
  const answer: InvokeResult<TurnEnvelope> = { successful: true, errors: [], warnings, result };
  io.stdout.write(`${printableJson(answer, 2)}\n`);
  return exitOfTurn(result);
}

export function exitOfTurn({ kind, toolResults }: Pick<TurnEnvelope, 'kind' | 'toolResults'>): number {
  if (kind !== 'final') return EXIT.turnOpen;
  return toolResults.every(({ status }) => status === 'succeeded') ? EXIT.ok : EXIT.callFailed;
}

/** What a person does with a turn that is still open. */
export function howToGoOn(turnId: string): string {
  const id = printableLine(turnId);
  return `"patchbay turn --follow ${id}" waits for it, "patchbay cancel ${id}" ends it.`;
}
