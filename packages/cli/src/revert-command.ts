import { PatchbayError, type TurnOutcome } from '@patchbay/client';
import type { PatchFileResult } from '@patchbay/protocol';
import { printableLine } from './approval/printable.js';
import { workspaceOf } from './choose-workspace.js';
import { CliError, EXIT } from './cli-error.js';
import { say } from './say.js';
import { forPeople } from './for-people.js';
import { settingsOf, TELLS_AT_ONCE, type CliIo, type CommonFlags } from './settings.js';
import { exitOfTurn, howToGoOn, printTurn, TurnWait, unlessInterrupted } from './turn-wait.js';

export interface RevertFlags extends CommonFlags {
  session?: string;
  allowPartial?: boolean;
  /** Longest wait, in ms. */
  wait?: number;
  json?: boolean;
}

/** `patchbay revert`: undoes what was applied of a patch batch, and says what was left out and why. */
export async function revert(
  batchId: string,
  { session, allowPartial = false, wait, json, ...flags }: RevertFlags,
  io: CliIo,
): Promise<number> {
  const workspace = await workspaceOf(await settingsOf(flags, io, TELLS_AT_ONCE), io);
  const waiting = new TurnWait(workspace, io, { waitMs: wait ?? null });
  const turn = await unlessInterrupted(null, async (signal) => {
    const sessionId = session ?? (await workspace.createSession()).sessionId;
    const request = { sessionId, allowPartial, waitMs: 0 };
    return workspace.revert(batchId, request, signal).catch((error: unknown) => {
      throw allowPartial ? error : withAdvice(error);
    });
  });
  const outcome = await unlessInterrupted(turn.turnId, (signal) => waiting.untilEnded(turn, signal));
  // What was left out is said when the revert is posted.
  outcome.warnings = turn.warnings;
  if (json) return printTurn(outcome, io);
  for (const line of told(outcome)) say(io.stdout, line);
  return exitOfTurn(outcome);
}

/** Where files have moved on, the others can still be undone. */
function withAdvice(error: unknown): unknown {
  if (!(error instanceof PatchbayError) || error.code !== 'STALE') return error;
  const advice = 'Nothing was undone; --allow-partial undoes the other files and leaves these as they are.';
  return new CliError(`${forPeople(error.message).replace(/\.?$/, '.')} ${advice}`, EXIT.failed);
}

/** What became of each file, and of those that the server has left out. */
function told({ toolCalls, toolResults, turnId, warnings }: TurnOutcome): string[] {
  const files = toolResults.flatMap(({ result }) => filesIn(result));
  return [
    ...files.map(({ docPath, status, message, errorCode }) =>
      printableLine(
        status === 'applied'
          ? `✓ ${docPath} undone`
          : `✗ ${docPath} ${status}${message ? `: ${forPeople(message, errorCode)}` : ''}`,
      ),
    ),
    ...toolResults.flatMap(({ error }) =>
      error !== null && files.length === 0 ? [`✗ not undone: ${forPeople(error.message, error.code)}`] : [],
    ),
    ...warnings.map(({ message }) => `! ${forPeople(message)}`),
    ...(toolCalls.length > 0 ? [`Turn ${printableLine(turnId)} is still open. ${howToGoOn(turnId)}`] : []),
  ];
}

function filesIn(result: unknown): PatchFileResult[] {
  const { files } = (result ?? {}) as { files?: PatchFileResult[] };
  return Array.isArray(files) ? files : [];
}
