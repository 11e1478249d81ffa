import type { WorkspaceClient } from '@patchbay/client';
import type { OpenToolCall } from '@patchbay/protocol';
import { callText, namesOf, waitText } from './call-wait.js';

/** Turns to search, and calls that get a line of their own: a summary, not a list. */
const MAX_TURNS = 20;
const MAX_NAMED = 5;

/**
 * The user's open calls that this client does not hold, and what each waits for: one line per call, safe to print.
 * Empty if there are none, or if the caller may not see them.
 */
export async function waitingElsewhere(
  workspace: WorkspaceClient,
  { userId, clientId }: { userId: string | null; clientId: string },
  signal: AbortSignal,
): Promise<string[]> {
  if (userId === null) return [];
  const calls: OpenToolCall[] = [];
  let looked = 0;
  for await (const { sessionId, turnId } of workspace.openTurns({ userId, signal })) {
    if ((looked += 1) > MAX_TURNS) break;
    const { toolCalls } = await workspace.getTurn(sessionId, turnId, { signal });
    calls.push(...toolCalls.filter((call) => call.clientId !== clientId));
  }
  if (calls.length === 0) return [];
  const names = namesOf(await workspace.clients());
  const lines = calls.slice(0, MAX_NAMED).map((call) => `${callText(call)} ${waitText(call, names)}.`);
  const more = calls.length - lines.length;
  const others = looked > MAX_TURNS ? 'more calls' : more === 1 ? '1 more call' : `${more} more calls`;
  return more > 0 ? [...lines, `${others}: see "patchbay status".`] : lines;
}
