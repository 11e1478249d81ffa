import type { TurnOutcome } from '@patchbay/client';
import { randomId } from '@patchbay/protocol';
import { printableLine } from './approval/printable.js';
import { workspaceOf } from './choose-workspace.js';
import { CliError, EXIT } from './cli-error.js';
import { sessionOfTurn } from './find-turn.js';
import { say } from './say.js';
import { settingsOf, REPORT_AT_ONCE, type CliIo, type CommonFlags } from './settings.js';
import { readTurn } from './turn-input.js';
import { howToContinue, printTurn, TurnWait, unlessInterrupted } from './turn-wait.js';

export interface TurnFlags extends CommonFlags {
  session?: string;
  tools?: string[];
  /** Longest wait, in ms. */
  wait?: number;
  /** turnId of a posted turn. */
  follow?: string;
}

/**
 * `patchbay turn`: posts a turn from a file, or follows a posted one, and prints the server's answer: turn result and
 * warnings.
 */
export async function turn(file: string | undefined, flags: TurnFlags, io: CliIo): Promise<number> {
  checkUsage(file, flags);
  const { follow } = flags;
  const outcome = await (follow === undefined ? post(file!, flags, io) : followUp(follow, flags, io));
  const exitCode = printTurn(outcome, io);
  const { turnId, toolResults } = outcome;
  for (const { toolCallId, error } of toolResults) {
    if (error?.code !== 'OUTCOME_UNKNOWN') continue;
    const what = `Call ${toolCallId} was running when its client lost track of it: it may have run, completely or in part.`;
    say(io.stderr, `${printableLine(`${what} Check what it should have changed before you run it again.`)}`);
  }
  if (exitCode === EXIT.turnOpen) {
    say(io.stderr, `Turn ${printableLine(turnId)} is still open. ${howToContinue(turnId)}`);
  }
  return exitCode;
}

function checkUsage(file: string | undefined, { follow, tools, session }: TurnFlags): void {
  const fault =
    (file === undefined) === (follow === undefined)
      ? 'Pass a file with a turn (- reads stdin), or --follow <turnId> for a posted turn.'
      : tools && (session !== undefined || follow !== undefined)
        ? `--tools is for a new session; omit ${session === undefined ? '--follow' : '--session'}.`
        : null;
  if (fault !== null) throw new CliError(fault, EXIT.usage);
}

async function post(
  file: string,
  { wait, tools, session, ...flags }: TurnFlags,
  io: CliIo,
): Promise<TurnOutcome> {
  const request = await readTurn(file, io);
  const workspace = await workspaceOf(await settingsOf(flags, io, REPORT_AT_ONCE), io);
  // Chosen here, so that it can be named before there is an answer.
  const turnId = request.turnId ?? randomId();
  return unlessInterrupted(turnId, async (signal) => {
    const sessionId = session ?? (await workspace.createSession(tools && { tools })).sessionId;
    const waitMs = wait ?? request.waitMs ?? null;
    // The server rejects a value that is not a duration.
    const isTime = waitMs === null || isWait(waitMs);
    const { resultFormat } = request;
    const waiting = new TurnWait(workspace, io, { waitMs: isTime ? waitMs : null, resultFormat });
    const posted = { ...request, turnId, waitMs: isTime ? waiting.firstWaitMs : waitMs };
    // If the session is new, the server has just answered, so waiting for it is worthwhile.
    const post = () => workspace.postTurn(sessionId, posted, signal);
    const turn = await waiting.untilTaken(turnId, post, { signal, wasThere: session === undefined });
    return waiting.untilEnded(turn, signal);
  });
}

async function followUp(turnId: string, { wait, ...flags }: TurnFlags, io: CliIo): Promise<TurnOutcome> {
  const workspace = await workspaceOf(await settingsOf(flags, io, REPORT_AT_ONCE), io);
  return unlessInterrupted(turnId, async (signal) => {
    const sessionId = await sessionOfTurn(workspace, turnId, flags.session);
    const waiting = new TurnWait(workspace, io, { waitMs: wait ?? null });
    return waiting.untilEnded(await workspace.getTurn(sessionId, turnId, { signal }), signal);
  });
}

function isWait(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
