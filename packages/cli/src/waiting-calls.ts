import type { WorkspaceClient } from '@patchbay/client';
import type { OpenToolCall } from '@patchbay/protocol';
import { callText, namesOf, waitOf } from './call-wait.js';

/** Turns that are looked at, and calls that have a line of their own: to know what waits, not to list it. */
const LOOKED_AT = 20;
const NAMED = 5;

/**
 * What is open of a user's and is not in the hands of this client, and for whom or what it waits: one line a call, in words
 * that are safe to print. None where nothing is, or where nobody may tell.
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
    if ((looked += 1) > LOOKED_AT) break;
    const { toolCalls } = await workspace.getTurn(sessionId, turnId, { signal });
    calls.push(...toolCalls.filter((call) => call.clientId !== clientId));
  }
  if (calls.length === 0) return [];
  const names = namesOf(await workspace.clients());
  const lines = calls.slice(0, NAMED).map((call) => `${callText(call)} ${waitOf(call, names)}.`);
  const more = calls.length - lines.length;
  const others = looked > LOOKED_AT ? 'more calls' : more === 1 ? '1 more call' : `${more} more calls`;
  return more > 0 ? [...lines, `${others}: "patchbay status" tells.`] : lines;
}
