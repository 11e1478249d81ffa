import type { Workspace } from '@patchbay/protocol';
import { PatchbayError, PatchbayClient, MemoryTokenStore } from '@patchbay/client';
import { printableLine } from './approval/printable.js';
import { CliError, EXIT } from './cli-error.js';
import { findWorkspace, onlyWorkspace } from './find-workspace.js';
import { ask, askSecret, readAll } from './prompt.js';
import { settingsOf, type CliIo, type CommonFlags } from './settings.js';

const TO_CHOOSE = 'with another --workspace (or PATCHBAY_WORKSPACE), or without one, to choose it.';
const LOGGED_IN = `You are logged in; run "patchbay login" ${TO_CHOOSE}`;
const REGISTERED = `The account is made and you are logged in; run "patchbay login" without --register, ${TO_CHOOSE}`;

export interface LoginFlags extends CommonFlags {
  email?: string;
  register?: boolean;
}

/** `patchbay login`: proves who one is, chooses the workspace, and keeps both for the other commands. */
export async function login(flags: LoginFlags, io: CliIo): Promise<number> {
  const { url, logins, home } = await settingsOf({ ...flags, token: undefined });
  const email = flags.email ?? io.env.PATCHBAY_EMAIL ?? (await askEmail(io));
  const account = { email, password: await passwordFrom(io) };
  const tokens = new MemoryTokenStore();
  const client = new PatchbayClient({ url, tokenStore: tokens });
  const entering = flags.register ? client.register(account) : client.login(account);
  const user = await entering.catch((error: unknown) => {
    // "Log in first" would be no help here.
    const isRefused = error instanceof PatchbayError && error.code === 'INVALID_TOKEN';
    throw isRefused ? new CliError(error.message, EXIT.refused) : error;
  });
  const { email: loggedIn } = user;
  const login = { email: loggedIn, tokens: await tokens.read() };
  // Before anything else can fail: an account that was just made can not be made again.
  const before = (await logins.read()).logins[url];
  await logins.save(url, { ...login, workspaceId: before?.email === loggedIn ? before.workspaceId : null });
  const workspace = await chooseWorkspace(client, user.email, flags.workspace, io).catch((error: unknown) => {
    if (!(error instanceof CliError)) throw error;
    throw new CliError(`${error.message} ${flags.register ? REGISTERED : LOGGED_IN}`, error.exitCode);
  });
  await logins.save(url, { ...login, workspaceId: workspace.id });
  const name = printableLine(workspace.name);
  io.stdout.write(
    `Logged in to ${url} as ${printableLine(user.email)}, workspace "${name}" (${workspace.id}).\n`,
  );
  io.stderr.write(`Kept in ${home}.\n`);
  return EXIT.ok;
}

async function askEmail(io: CliIo): Promise<string> {
  if (io.stdin.isTTY) return ask(io, 'Email: ');
  throw new CliError('Pass --email <address>.', EXIT.usage);
}

async function passwordFrom(io: CliIo): Promise<string> {
  if (io.env.PATCHBAY_PASSWORD) return io.env.PATCHBAY_PASSWORD;
  const password = io.stdin.isTTY
    ? await askSecret(io, 'Password: ')
    : (await readAll(io.stdin)).replace(/\r?\n$/, '');
  if (password) return password;
  throw new CliError('No password: type it, pipe it in, or set PATCHBAY_PASSWORD.', EXIT.usage);
}

async function chooseWorkspace(
  client: PatchbayClient,
  email: string,
  wanted: string | undefined,
  io: CliIo,
): Promise<Workspace> {
  const all = await client.workspaces();
  if (wanted) return findWorkspace(all, wanted);
  if (all.length <= 1 || !io.stdin.isTTY) {
    return onlyWorkspace(all) ?? client.createWorkspace(email.split('@')[0] || 'workspace');
  }
  io.stderr.write(all.map(({ name }, index) => `  ${index + 1}  ${printableLine(name)}\n`).join(''));
  const chosen = all[Number(await ask(io, `Workspace [1-${all.length}]: `)) - 1];
  if (chosen) return chosen;
  throw new CliError('No such workspace.', EXIT.usage);
}
