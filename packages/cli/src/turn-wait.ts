import { setTimeout as sleep } from 'node:timers/promises';
import { isTransient, type TurnOutcome, type WorkspaceClient } from '@patchbay/client';
import type { ResultFormat } from '@patchbay/protocol';
import type { InvokeResult, TurnEnvelope } from '@patchbay/protocol';
import { printableJson, printableLine } from './approval/printable.js';
import { CliError, EXIT, explain } from './cli-error.js';
import { interruptible } from './interrupts.js';
import { say } from './say.js';
import type { CliIo } from './settings.js';
import { TurnNews } from './turn-news.js';

/** How long the server may hold an answer, in ms, where nobody reads along. */
const POLL_MS = 30_000;
/** How often it is looked what a turn waits for, in ms, where somebody does. */
const LOOK_MS = 1_000;
/** Longest that a timer can be set for. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** How long a server that is away is left alone, in ms. */
const AGAIN_MS = 1_000;

export interface WaitOptions {
  /** Longest wait in all, in ms; null: to the end of the turn. */
  waitMs: number | null;
  resultFormat?: ResultFormat | null | undefined;
}

/** Waits for a turn, and tells who reads along at a terminal what it waits for. */
export class TurnWait {
  private readonly startedAt = Date.now();
  private readonly news: TurnNews | null;
  private readonly stderr: NodeJS.WritableStream;
  private isAway = false;

  constructor(
    private readonly workspace: WorkspaceClient,
    { stderr }: Pick<CliIo, 'stderr'>,
    private readonly options: WaitOptions,
  ) {
    this.stderr = stderr;
    this.news = stderr.isTTY ? new TurnNews(workspace, stderr) : null;
  }

  /** How long the server may hold its first answer, in ms. */
  get firstWaitMs(): number {
    return Math.min(this.options.waitMs ?? POLL_MS, this.everyMs);
  }

  private get everyMs(): number {
    return this.news ? LOOK_MS : POLL_MS;
  }

  /**
   * What the server answers to a turn that is posted. To post it again is safe, as it has its turnId: it is sent until the
   * server answers, if that was there before.
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
          throw withTurn(error, `Turn ${turnId} may have been accepted anyway.`, turnId);
        await this.away(error, turnId, signal);
      }
    }
  }

  /** The turn at its end, or as it stands when the time is up. A server that goes away meanwhile is waited for. */
  async untilEnded(turn: TurnOutcome, signal: AbortSignal): Promise<TurnOutcome> {
    const { sessionId, turnId } = turn;
    const { resultFormat } = this.options;
    let latest = turn;
    await this.news?.tell(latest);
    while (latest.kind !== 'final' && this.leftMs > 0) {
      const timeUp = AbortSignal.timeout(Math.min(this.leftMs, MAX_TIMER_MS));
      const how = { everyMs: this.everyMs, resultFormat, signal: AbortSignal.any([signal, timeUp]) };
      try {
        for await (const next of this.workspace.followTurn(sessionId, turnId, how)) {
          latest = this.answered(next);
          await this.news?.tell(latest);
        }
      } catch (error) {
        if (signal.aborted) throw error;
        if (timeUp.aborted) return await this.lastLook(latest, signal);
        if (!isTransient(error)) throw withTurn(error, `Turn ${turnId} goes on.`, turnId);
        await this.away(error, turnId, how.signal);
      }
    }
    return latest;
  }

  /** Ms that are left of the wait. */
  private get leftMs(): number {
    const { waitMs } = this.options;
    return waitMs === null ? Infinity : this.startedAt + waitMs - Date.now();
  }

  /** As it stands when the time is up; as it was seen last where the server does not say. */
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

  /** Told once, then it is tried again after a while. */
  private async away(error: unknown, turnId: string, signal: AbortSignal): Promise<void> {
    const { message } = explain(error);
    if (!this.isAway) {
      say(
        this.stderr,
        `${message} Trying again; turn ${turnId} is not lost. Ctrl-C ends the wait, not the turn.`,
      );
    }
    this.isAway = true;
    await sleep(AGAIN_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** A fault that ends the wait for a turn: it names the turn, so that it can be gone on with. */
function withTurn(error: unknown, what: string, turnId: string): CliError {
  const { message, exitCode } = explain(error);
  return new CliError(`${message} ${what} ${howToGoOn(turnId)}`, exitCode);
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
