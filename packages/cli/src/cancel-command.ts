import { printableJson, printableLine } from './approval/printable.js';
import { callText, namesOf, waitText } from './call-wait.js';
import { workspaceOf } from './choose-workspace.js';
import { EXIT } from './cli-error.js';
import { sessionOfTurn } from './find-turn.js';
import { say } from './say.js';
import { settingsOf, type CliIo, type CommonFlags } from './settings.js';

export interface CancelFlags extends CommonFlags {
  session?: string;
  json?: boolean;
}

/** `patchbay cancel`: cancels the open calls of a turn, or one call, and prints the status of each call. */
export async function cancel(
  turnId: string,
  toolCallId: string | undefined,
  { session, json, ...flags }: CancelFlags,
  io: CliIo,
): Promise<number> {
  const workspace = await workspaceOf(await settingsOf(flags, io), io);
  const sessionId = await sessionOfTurn(workspace, turnId, session);
  const { warnings: _, ...turn } = await (toolCallId === undefined
    ? workspace.cancelTurn(sessionId, turnId)
    : workspace.cancelCall(sessionId, turnId, toolCallId));
  if (json) {
    io.stdout.write(`${printableJson(turn)}\n`);
    return EXIT.ok;
  }
  const names = turn.toolCalls.length > 0 ? namesOf(await workspace.clients()) : new Map<string, string>();
  const calls = [
    ...turn.toolResults.map((call) => `${callText(call)}: ${printableLine(call.status.replace('_', ' '))}`),
    ...turn.toolCalls.map((call) => `${callText(call)} ${waitText(call, names)}`),
  ];
  const statusText = { open: 'continues', cancelled: 'is cancelled', completed: 'has ended' }[turn.status];
  say(
    io.stdout,
    [`Turn ${printableLine(turnId)} ${statusText}.`, ...calls.map((call) => `  ${call}`)].join('\n'),
  );
  return EXIT.ok;
}
