import type { Workspace } from '@patchbay/protocol';
import { printableLine } from './approval/printable.js';
import { CliError, EXIT } from './cli-error.js';

/** The one of the caller's workspaces that has this id, else this name. */
export function findWorkspace(all: readonly Workspace[], idOrName: string): Workspace {
  const withId = all.find(({ id }) => id === idOrName);
  if (withId) return withId;
  const [found, twin] = all.filter(({ name }) => name === idOrName);
  if (!found)
    throw new CliError(`You are no member of a workspace "${idOrName}".${listOf(all)}`, EXIT.refused);
  if (!twin) return found;
  throw new CliError(
    `Several workspaces have the name "${idOrName}": pass --workspace <id>.${listOf(all)}`,
    EXIT.usage,
  );
}

/** The workspace of a member of one alone; null for who is a member of none. */
export function onlyWorkspace(all: readonly Workspace[]): Workspace | null {
  if (all.length > 1) throw new CliError(`Choose one with --workspace <id>.${listOf(all)}`, EXIT.usage);
  return all[0] ?? null;
}

function listOf(all: readonly Workspace[]): string {
  if (all.length === 0) return '';
  return ` Yours: ${all.map(({ id, name }) => `${printableLine(name)} (${id})`).join(', ')}.`;
}
