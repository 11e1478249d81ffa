import type { WorkspaceClient } from '@patchbay/client';
import { printableLine } from './approval/printable.js';
import { CliError, EXIT } from './cli-error.js';

/** Number of a turn's events to search. */
const MAX_EVENTS = 500;

/** The session of a turn: the given one, else the only one in which the trail has this turnId. */
export async function sessionOfTurn(
  workspace: WorkspaceClient,
  turnId: string,
  given: string | undefined,
): Promise<string> {
  if (given !== undefined) return given;
  const sessions = new Set<string>();
  let looked = 0;
  for await (const { sessionId } of workspace.audit({ turnId, limit: MAX_EVENTS })) {
    if (sessionId !== null) sessions.add(sessionId);
    if (++looked === MAX_EVENTS) break;
  }
  const [only, ...others] = sessions;
  const id = printableLine(turnId);
  if (only === undefined) {
    throw new CliError(`There is no turn ${id} in this workspace. "patchbay status" lists open turns.`);
  }
  if (others.length === 0) return only;
  throw new CliError(
    `Several sessions have a turn ${id}: pass --session <id>, one of ${[...sessions].join(', ')}.`,
    EXIT.usage,
  );
}
