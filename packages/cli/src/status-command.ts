import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { WorkspaceClient } from '@patchbay/client';
import { DEFAULT_MAX_FILE_BYTES, type Workspace } from '@patchbay/protocol';
import { SecretFiles } from '@patchbay/workspace';
import { compareFolder } from '@patchbay/workspace/sync';
import { columnsOf } from './approval/fit.js';
import { printableJson } from './approval/printable.js';
import { workspaceOf } from './choose-workspace.js';
import { CliError, EXIT, explain } from './cli-error.js';
import { openKnownFolder } from './open-folder.js';
import { say } from './say.js';
import { settingsOf, type CliIo, type CommonFlags, type Settings } from './settings.js';
import type { FolderStatus, Status, StatusTurn } from './status.js';
import { statusText } from './status-text.js';

export interface StatusFlags extends CommonFlags {
  json?: boolean;
}

/** Turns that are shown in detail, and that are counted. */
const SHOWN_TURNS = 20;
const COUNTED_TURNS = 500;
/** Longest time for the comparison of a folder with the Cloud, in ms. */
const COMPARE_MS = 15_000;

/** `patchbay status`: user and server, connected clients, open turns, and how a folder differs from the Cloud. */
export async function status(directory: string, { json, ...flags }: StatusFlags, io: CliIo): Promise<number> {
  const settings = await settingsOf(flags, io);
  const found = await statusOf(await workspaceOf(settings, io), settings, directory);
  if (json) io.stdout.write(`${printableJson(found, 2)}\n`);
  else
    say(
      io.stdout,
      statusText(found, resolve(directory), { person: settings.person, columns: columnsOf(io.stdout) }),
    );
  return EXIT.ok;
}

async function statusOf(client: WorkspaceClient, settings: Settings, directory: string): Promise<Status> {
  const workspace = await client.get();
  const [clients, turns, folder] = await Promise.all([
    client.clients(),
    turnsOf(client, workspace, settings.userId),
    folderOf(client, settings, directory),
  ]);
  const user = { id: settings.userId, email: settings.email };
  return { server: settings.url, user, workspace, clients, ...turns, folder };
}

async function turnsOf(
  client: WorkspaceClient,
  { role }: Workspace,
  userId: string | null,
): Promise<Pick<Status, 'turns' | 'moreTurns' | 'othersTurns'>> {
  const own = userId === null ? [] : await firstOf(client.openTurns({ userId }), SHOWN_TURNS + 1);
  const turns: StatusTurn[] = [];
  for (const turn of own.slice(0, SHOWN_TURNS)) {
    const { toolCalls } = await client.getTurn(turn.sessionId, turn.turnId);
    // It may have ended meanwhile.
    if (toolCalls.length > 0) turns.push({ ...turn, calls: toolCalls });
  }
  const all = role === 'owner' ? await firstOf(client.openTurns(), COUNTED_TURNS) : null;
  const othersTurns = all && all.filter((turn) => turn.userId !== userId).length;
  return { turns, moreTurns: own.length > SHOWN_TURNS, othersTurns };
}

async function firstOf<T>(items: AsyncIterable<T>, count: number): Promise<T[]> {
  const first: T[] = [];
  for await (const item of items) if (first.push(item) === count) break;
  return first;
}

async function folderOf(
  client: WorkspaceClient,
  settings: Settings,
  given: string,
): Promise<FolderStatus | null> {
  const opened = await openKnownFolder(settings, client, given);
  if (opened === null) return null;
  const { roots, state } = opened;
  const { directory, name } = roots.all[0]!;
  const signal = AbortSignal.timeout(COMPARE_MS);
  try {
    const compared = await compareFolder({
      ...{ files: client.files, roots, state, signal },
      maxFileBytes: DEFAULT_MAX_FILE_BYTES,
      exclude: [await realpath(settings.home).catch(() => resolve(settings.home))],
      secrets: new SecretFiles(),
      progress: { begin: () => undefined, advance: () => undefined, end: () => undefined },
    });
    return { directory, name, ...compared };
  } catch (error) {
    if (error instanceof CliError) throw error;
    const slow = `it takes longer than ${COMPARE_MS / 1000} s; use "patchbay push --dry-run" and "patchbay pull --dry-run"`;
    return { directory, name, fault: signal.aborted ? slow : explain(error).message };
  }
}
