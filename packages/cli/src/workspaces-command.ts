import { styleText } from 'node:util';
import type { Workspace } from '@patchbay/protocol';
import { printableJson, printableLine } from './approval/printable.js';
import { findWorkspace, onlyWorkspace, settle } from './choose-workspace.js';
import { CliError, EXIT } from './cli-error.js';
import { say } from './say.js';
import { requireLogin, settingsOf, type CliIo, type CommonFlags, type Settings } from './settings.js';
import { describeWorkspace, ownerText } from './workspace-owner.js';

export interface WorkspacesFlags extends CommonFlags {
  json?: boolean;
}

/** `patchbay workspaces`: lists the user's workspaces, or chooses the one for the other commands. */
export async function workspaces(
  wanted: string | undefined,
  { json, ...flags }: WorkspacesFlags,
  io: CliIo,
): Promise<number> {
  const settings = await settingsOf(flags, io);
  requireLogin(settings);
  const all = await settings.client.workspaces();
  if (wanted !== undefined) return choose(all, wanted, settings, io);
  const current = currentOf(all, settings);
  const { userId } = settings;
  if (json) {
    const listed = all.map((one) => ({ ...one, isCurrent: one.id === current }));
    io.stdout.write(`${printableJson({ workspaces: listed }, 2)}\n`);
  } else if (all.length === 0)
    say(io.stdout, 'You are not a member of any workspace; "patchbay login" creates one.');
  else say(io.stdout, tableOf(all, current, userId, io.stdout));
  return EXIT.ok;
}

async function choose(
  all: readonly Workspace[],
  wanted: string,
  settings: Settings,
  io: CliIo,
): Promise<number> {
  const { url, logins, userId } = settings;
  const workspace = await findWorkspace(all, wanted, settings);
  const login = (await logins.read()).logins[url];
  if (!login) {
    const message = `There is no login to ${url} to store the choice: run "patchbay login", or pass --workspace.`;
    throw new CliError(message, EXIT.refused);
  }
  await settle(workspace, workspace.id === wanted, settings, io);
  await logins.choose(url, workspace.id);
  say(io.stdout, `Commands now use workspace ${describeWorkspace(workspace, ownerText(workspace, userId))}.`);
  if (settings.named !== null) {
    say(io.stderr, 'PATCHBAY_WORKSPACE or --workspace still takes precedence.');
  }
  return EXIT.ok;
}

/** Id of the workspace that a command would use; null if it would have to ask. */
function currentOf(all: readonly Workspace[], { named, ofLogin, userId }: Settings): string | null {
  const wanted = named ?? ofLogin;
  if (wanted !== null) return all.find(({ id, name }) => id === wanted || name === wanted)?.id ?? null;
  try {
    return onlyWorkspace(all, userId)?.id ?? null;
  } catch {
    return null;
  }
}

function tableOf(
  all: readonly Workspace[],
  current: string | null,
  userId: string | null,
  stream: NodeJS.WritableStream,
): string {
  const rows = all.map((one) => {
    const whose = ownerText(one, userId);
    return [
      printableLine(one.name),
      printableLine(one.id),
      printableLine(one.role),
      whose === null ? 'yours' : `of ${whose}`,
    ];
  });
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row, at) => {
    const line = row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
    return all[at]!.id === current ? styleText('bold', `* ${line}`, { stream }) : `  ${line}`;
  });
  return lines.join('\n');
}
