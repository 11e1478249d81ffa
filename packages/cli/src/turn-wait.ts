import { setTimeout as sleep } from 'node:timers/promises';
import { isTransient, type TurnOutcome, type WorkspaceClient } from '@patchbay/client';
import type { ResultFormat } from '@patchbay/protocol';
import type { InvokeResult, TurnResult } from '@patchbay/protocol';
import { printableJson, printableLine } from './approval/printable.js';
import { CliError, EXIT, explain } from './cli-error.js';
import { interruptible } from './interrupts.js';
import { say } from './say.js';
import type { CliIo } from './settings.js';
import { TurnReporter } from './turn-reporter.js';

/** How long the server may hold an answer without a person watching, in ms. */
const POLL_MS = 30_000;
/** Poll interval with a person watching, in ms. */
const LOOK_MS = 1_000;
/** Longest time for a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Pause before the next try if the server does not answer, in ms. */
const RETRY_MS = 1_000;

export interface WaitOptions {
  /** Longest total wait, in ms; null: until the turn ends. */
  waitMs: number | null;
  resultFormat?: ResultFormat | null | undefined;
}

/** Waits for a turn, and reports to a person at a terminal what it waits for. */
export class TurnWait {
  private readonly startedAt = Date.now();
  private readonly reporter: TurnReporter | null;
  private readonly stderr: NodeJS.WritableStream;
  private isAway = false;

  constructor(
    private readonly workspace: WorkspaceClient,
    { stderr }: Pick<CliIo, 'stderr'>,
    private readonly options: WaitOptions,
  ) {
    this.stderr = stderr;
    this.reporter = stderr.isTTY ? new TurnReporter(workspace, stderr) : null;
  }

  /** How long the server may hold its first answer, in ms. */
  get firstWaitMs(): number {
    return Math.min(this.options.waitMs ?? POLL_MS, this.everyMs);
  }

  private get everyMs(): number {
    return this.reporter ? LOOK_MS : POLL_MS;
  }

  /**
   * The server's answer to a posted turn. Posting again is safe because of its turnId: it is repeated until the
   * server answers, if the server was there before.
   */
  async untilTaken(
    turnId: string,
    post: () => Promise<TurnOutcome>,
    { signal, wasThere }: { signal: AbortSignal; wasThere: boolean },
  ): Promise<TurnOutcome> {
    for (;;) {
      try {
        return this.answered(await post());
      } catch (error) {
        if (signal.aborted || !isTransient(error)) throw error;
        if (!wasThere || this.leftMs <= 0)
          throw withTurn(error, `Turn ${turnId} may have been accepted.`, turnId);
        await this.away(error, turnId, signal);
      }
    }
  }

  /** The turn at its end, or as it is when the time is up. Waits for a server that goes away. */
  async untilEnded(turn: TurnOutcome, signal: AbortSignal): Promise<TurnOutcome> {
    const { sessionId, turnId } = turn;
    const { resultFormat } = this.options;
    let latest = turn;
    await this.reporter?.report(latest);
    while (latest.kind !== 'final' && this.leftMs > 0) {
      const timeUp = AbortSignal.timeout(Math.min(this.leftMs, MAX_TIMER_MS));
      const how = { everyMs: this.everyMs, resultFormat, signal: AbortSignal.any([signal, timeUp]) };
      try {
        for await (const next of this.workspace.followTurn(sessionId, turnId, how)) {
          latest = this.answered(next);
          await this.reporter?.report(latest);
        }
      } catch (error) {
        if (signal.aborted) throw error;
        if (timeUp.aborted) return await this.lastLook(latest, signal);
        if (!isTransient(error)) throw withTurn(error, `Turn ${turnId} continues.`, turnId);
        await this.away(error, turnId, how.signal);
      }
    }
    return latest;
  }

  /** Remaining ms of the wait. */
  private get leftMs(): number {
    const { waitMs } = this.options;
    return waitMs === null ? Infinity : this.startedAt + waitMs - Date.now();
  }

  /** The turn when the time is up; as last seen if the server does not answer. */
  private async lastLook(latest: TurnOutcome, signal: AbortSignal): Promise<TurnOutcome> {
    const { sessionId, turnId } = latest;
    const { resultFormat } = this.options;
    return this.workspace.getTurn(sessionId, turnId, { resultFormat, signal }).catch((error: unknown) => {
      if (!isTransient(error)) throw error;
      return latest;
    });
  }

  private answered(turn: TurnOutcome): TurnOutcome {
    if (this.isAway) say(this.stderr, 'The server answers again.');
    this.isAway = false;
    return turn;
  }

  /** Reported once, then retried after a pause. */
  private async away(error: unknown, turnId: string, signal: AbortSignal): Promise<void> {
    const { message } = explain(error);
    if (!this.isAway) {
      say(
        this.stderr,
        `${message} Trying again; turn ${turnId} is not lost. Ctrl-C ends the wait, not the turn.`,
      );
    }
    this.isAway = true;
    await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** An error that ends the wait for a turn; it names the turn, so that the person can continue. */
function withTurn(error: unknown, what: string, turnId: string): CliError {
  const { message, exitCode } = explain(error);
  return new CliError(`${message} ${what} ${howToContinue(turnId)}`, exitCode);
}

/** Runs work that posts or follows a turn; on interruption, says how to continue. */
export function unlessInterrupted<T>(
  turnId: string | null,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return interruptible(work, () => {
    const how = turnId === null ? '' : ` Turn ${printableLine(turnId)} continues. ${howToContinue(turnId)}`;
    throw new CliError(`Interrupted.${how}`, EXIT.interrupted);
  });
}

/** Prints a turn as the server answers it; returns its exit code. */
export function printTurn({ warnings, ...result }: TurnOutcome, io: Pick<CliIo, 'stdout'>): number {
  const answer: InvokeResult<TurnResult> = { successful: true, errors: [], warnings, result };
  io.stdout.write(`${printableJson(answer, 2)}\n`);
  return exitOfTurn(result);
}

export function exitOfTurn({ kind, toolResults }: Pick<TurnResult, 'kind' | 'toolResults'>): number {
  if (kind !== 'final') return EXIT.turnOpen;
  return toolResults.every(({ status }) => status === 'succeeded') ? EXIT.ok : EXIT.callFailed;
}

/** What a person can do with a turn that is still open. */
export function howToContinue(turnId: string): string {
  const id = printableLine(turnId);
  return `"patchbay turn --follow ${id}" waits for it, "patchbay cancel ${id}" ends it.`;
}
