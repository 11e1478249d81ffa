import type { Workspace } from '@patchbay/protocol';
import { PatchbayError } from '../sdk/errors.js';
import { PatchbayClient } from '../sdk/patchbay-client.js';
import { MemoryTokenStore } from '../sdk/tokens.js';
import { printableLine } from '../approval/printable.js';
import { CliError, EXIT } from './cli-error.js';
import { ask, askSecret, readAll } from './prompt.js';
import { settingsOf, type CliIo, type CommonFlags } from './settings.js';

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
  const workspace = await chooseWorkspace(client, user.email, flags.workspace, io);
  await logins.save(url, { email: user.email, workspaceId: workspace.id, tokens: await tokens.read() });
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
  if (wanted) {
    const found = all.find(({ id, name }) => id === wanted || name === wanted);
    if (found) return found;
    throw new CliError(`You are no member of a workspace "${wanted}".${listOf(all)}`, EXIT.refused);
  }
  const [first] = all;
  if (!first) return client.createWorkspace(email.split('@')[0] || 'workspace');
  if (all.length === 1) return first;
  if (!io.stdin.isTTY) throw new CliError(`Choose one with --workspace <id>.${listOf(all)}`, EXIT.usage);
  io.stderr.write(all.map(({ name }, index) => `  ${index + 1}  ${printableLine(name)}\n`).join(''));
  const chosen = all[Number(await ask(io, `Workspace [1-${all.length}]: `)) - 1];
  if (chosen) return chosen;
  throw new CliError('No such workspace.', EXIT.usage);
}

function listOf(all: Workspace[]): string {
  return all.length
    ? ` Yours: ${all.map(({ id, name }) => `${printableLine(name)} (${id})`).join(', ')}.`
    : '';
}
