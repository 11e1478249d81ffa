import type { WorkspaceClient } from '@patchbay/client';
import { printableLine } from './approval/printable.js';
import { CliError, EXIT } from './cli-error.js';

/** Events of a turn that are looked at. */
const LOOKED_AT = 500;

/** The session of a turn: the one that is given, else the only one that the trail knows a turn of this id in. */
export async function sessionOfTurn(
  workspace: WorkspaceClient,
  turnId: string,
  given: string | undefined,
): Promise<string> {
  if (given !== undefined) return given;
  const sessions = new Set<string>();
  let looked = 0;
  for await (const { sessionId } of workspace.audit({ turnId, limit: LOOKED_AT })) {
    if (sessionId !== null) sessions.add(sessionId);
    if (++looked === LOOKED_AT) break;
  }
  const [only, ...others] = sessions;
  const id = printableLine(turnId);
  if (only === undefined) {
    throw new CliError(
      `There is no turn ${id} in this workspace. "patchbay status" lists those that are open.`,
    );
  }
  if (others.length === 0) return only;
  throw new CliError(
    `Several sessions have a turn ${id}: pass --session <id>, one of ${[...sessions].join(', ')}.`,
    EXIT.usage,
  );
}
