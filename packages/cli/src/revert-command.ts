import { PatchbayError, type TurnOutcome } from '@patchbay/client';
import type { PatchFileResult } from '@patchbay/protocol';
import { printableLine } from './approval/printable.js';
import { workspaceOf } from './choose-workspace.js';
import { CliError, EXIT } from './cli-error.js';
import { say } from './say.js';
import { readableReason } from './readable-reason.js';
import { settingsOf, REPORT_AT_ONCE, type CliIo, type CommonFlags } from './settings.js';
import { exitOfTurn, howToContinue, printTurn, TurnWait, unlessInterrupted } from './turn-wait.js';

export interface RevertFlags extends CommonFlags {
  session?: string;
  allowPartial?: boolean;
  /** Longest wait, in ms. */
  wait?: number;
  json?: boolean;
}

/** `patchbay revert`: undoes the applied changes of a patch batch, and says what was skipped and why. */
export async function revert(
  batchId: string,
  { session, allowPartial = false, wait, json, ...flags }: RevertFlags,
  io: CliIo,
): Promise<number> {
  const workspace = await workspaceOf(await settingsOf(flags, io, REPORT_AT_ONCE), io);
  const waiting = new TurnWait(workspace, io, { waitMs: wait ?? null });
  const turn = await unlessInterrupted(null, async (signal) => {
    const sessionId = session ?? (await workspace.createSession()).sessionId;
    const request = { sessionId, allowPartial, waitMs: 0 };
    return workspace.revert(batchId, request, signal).catch((error: unknown) => {
      throw allowPartial ? error : withAdvice(error);
    });
  });
  const outcome = await unlessInterrupted(turn.turnId, (signal) => waiting.untilEnded(turn, signal));
  // Only the answer to the post names the skipped files.
  outcome.warnings = turn.warnings;
  if (json) return printTurn(outcome, io);
  for (const line of outcomeLines(outcome)) say(io.stdout, line);
  return exitOfTurn(outcome);
}

/** If some files have changed since, the others can still be reverted. */
function withAdvice(error: unknown): unknown {
  if (!(error instanceof PatchbayError) || error.code !== 'STALE') return error;
  const advice = 'Nothing was undone; --allow-partial undoes the other files and leaves these as they are.';
  return new CliError(`${readableReason(error.message).replace(/\.?$/, '.')} ${advice}`, EXIT.failed);
}

/** The outcome of each file, and the files that the server skipped. */
function outcomeLines({ toolCalls, toolResults, turnId, warnings }: TurnOutcome): string[] {
  const files = toolResults.flatMap(({ result }) => filesIn(result));
  return [
    ...files.map(({ docPath, status, message, errorCode }) =>
      printableLine(
        status === 'applied'
          ? `✓ ${docPath} undone`
          : `✗ ${docPath} ${status}${message ? `: ${readableReason(message, errorCode)}` : ''}`,
      ),
    ),
    ...toolResults.flatMap(({ error }) =>
      error !== null && files.length === 0
        ? [`✗ not undone: ${readableReason(error.message, error.code)}`]
        : [],
    ),
    ...warnings.map(({ message }) => `! ${readableReason(message)}`),
    ...(toolCalls.length > 0
      ? [`Turn ${printableLine(turnId)} is still open. ${howToContinue(turnId)}`]
      : []),
  ];
}

function filesIn(result: unknown): PatchFileResult[] {
  const { files } = (result ?? {}) as { files?: PatchFileResult[] };
  return Array.isArray(files) ? files : [];
}
