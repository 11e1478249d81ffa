import type { WorkspaceClient } from '@patchbay/client';
import type { Workspace } from '@patchbay/protocol';
import { CliError, EXIT } from './cli-error.js';
import { isUuid } from './is-uuid.js';
import { ask } from './prompt.js';
import { say } from './say.js';
import { requireLogin, type CliIo, type Settings } from './settings.js';
import { describeWorkspace, isOwn, ownerText } from './workspace-owner.js';

const HOW = 'pass --workspace <id> or set PATCHBAY_WORKSPACE';

/**
 * The workspace of a command: the one that is named, else the login's, else the only one that the user created. A
 * workspace of someone else is used only if its id is passed, if the person at the terminal confirms it, or if either
 * was the case before; its owner is then named each time.
 */
export async function workspaceOf(settings: Settings, io: CliIo): Promise<WorkspaceClient> {
  requireLogin(settings);
  const { client, known, named, ofLogin } = settings;
  const wanted = named ?? ofLogin;
  const before = wanted === null ? null : await known.find(wanted);
  if (before) {
    if (before.whose !== null) say(io.stderr, `Workspace ${describeWorkspace(before, before.whose)}.`);
    return client.workspace(before.id);
  }
  const { workspace, isChosen } = await lookUp(settings);
  await settle(workspace, isChosen, settings, io);
  return client.workspace(workspace.id);
}

/** Finds the workspace; `isChosen` if the person named it by something that nobody else can imitate. */
async function lookUp(settings: Settings): Promise<{ workspace: Workspace; isChosen: boolean }> {
  const { client, named, ofLogin, userId } = settings;
  const id = named === null ? ofLogin : isUuid(named) ? named : null;
  if (id !== null) return { workspace: await client.workspace(id).get(), isChosen: named !== null };
  if (named !== null) {
    const workspace = await findWorkspace(await client.workspaces(), named, settings);
    return { workspace, isChosen: workspace.id === named };
  }
  const found = onlyWorkspace(await client.workspaces(), userId);
  if (found) return { workspace: found, isChosen: false };
  throw new CliError(
    'You are not a member of any workspace: run "patchbay login", which creates one.',
    EXIT.usage,
  );
}

/** Remembers a workspace that is the user's own or chosen; asks about others if there is a terminal. */
export async function settle(
  workspace: Workspace,
  isChosen: boolean,
  { known, userId }: Pick<Settings, 'known' | 'userId'>,
  io: CliIo,
): Promise<void> {
  const whose = ownerText(workspace, userId);
  if (whose !== null) {
    const described = describeWorkspace(workspace, whose);
    if (isChosen) say(io.stderr, `Workspace ${described}.`);
    else await confirm(described, workspace, io);
  }
  await known.keep({ id: workspace.id, name: workspace.name, whose });
}

async function confirm(described: string, { id }: Workspace, io: CliIo): Promise<void> {
  if (!io.stdin.isTTY) {
    const message = `Workspace ${described} was not created by you, and you have not chosen it here before.`;
    throw new CliError(`${message} To use it, pass --workspace ${id}.`, EXIT.usage);
  }
  say(io.stderr, `Workspace ${described} was not created by you.`);
  const answer = await ask(io, 'Its members can read what you send there. Use it? [y/N] ');
  if (/^y(es)?$/i.test(answer)) return;
  throw new CliError(`Nothing was sent. To use another workspace, ${HOW}.`, EXIT.usage);
}

/**
 * The caller's workspace with this id, else with this name. Of several with the same name, the one chosen before, or
 * the only one that the caller created.
 */
export async function findWorkspace(
  all: readonly Workspace[],
  idOrName: string,
  { known, userId }: Pick<Settings, 'known' | 'userId'>,
): Promise<Workspace> {
  const withId = all.find(({ id }) => id === idOrName);
  if (withId) return withId;
  const named = all.filter(({ name }) => name === idOrName);
  if (named.length === 0) {
    throw new CliError(
      `You are not a member of a workspace "${idOrName}".${listOf(all, userId)}`,
      EXIT.refused,
    );
  }
  if (named.length === 1) return named[0]!;
  const mine: Workspace[] = [];
  for (const one of named) if (isOwn(one, userId) || (await known.find(one.id))) mine.push(one);
  if (mine.length === 1) return mine[0]!;
  throw new CliError(
    `Several workspaces have the name "${idOrName}": pass --workspace <id>.${listOf(all, userId)}`,
    EXIT.usage,
  );
}

/** The only workspace that the caller created, else the only one of all; null for a user without workspaces. */
export function onlyWorkspace(all: readonly Workspace[], userId: string | null): Workspace | null {
  const own = all.filter((one) => isOwn(one, userId));
  const candidates = own.length > 0 ? own : all;
  if (candidates.length > 1) {
    throw new CliError(`Choose one with --workspace <id>.${listOf(all, userId)}`, EXIT.usage);
  }
  return candidates[0] ?? null;
}

function listOf(all: readonly Workspace[], userId: string | null): string {
  if (all.length === 0) return '';
  return ` Your workspaces: ${all.map((one) => describeWorkspace(one, ownerText(one, userId))).join('; ')}.`;
}
