import type { User, Workspace } from '@patchbay/protocol';
import { PatchbayError, PatchbayClient, MemoryTokenStore } from '@patchbay/client';
import { printableLine } from './approval/printable.js';
import { CliError, EXIT } from './cli-error.js';
import { findWorkspace, onlyWorkspace, settle } from './choose-workspace.js';
import { KnownWorkspaces } from './known-workspaces.js';
import { ask, askSecret, readAll } from './prompt.js';
import { say } from './say.js';
import { settingsOf, type CliIo, type CommonFlags, type Settings } from './settings.js';
import { describeWorkspace, ownerText } from './workspace-owner.js';

const TO_CHOOSE = 'with another --workspace (or PATCHBAY_WORKSPACE), or without one, to choose it.';
const LOGGED_IN = `You are logged in; run "patchbay login" ${TO_CHOOSE}`;
const REGISTERED = `The account was created and you are logged in; run "patchbay login" without --register, ${TO_CHOOSE}`;

export interface LoginFlags extends CommonFlags {
  email?: string;
  register?: boolean;
}

/** `patchbay login`: authenticates, chooses the workspace, and stores both for the other commands. */
export async function login(flags: LoginFlags, io: CliIo): Promise<number> {
  const { url, logins, home } = await settingsOf({ ...flags, token: undefined }, io);
  const email = checkedEmail(flags.email ?? io.env.PATCHBAY_EMAIL ?? (await askEmail(io)));
  const account = { email, password: await passwordFrom(io) };
  const tokens = new MemoryTokenStore();
  const client = new PatchbayClient({ url, tokenStore: tokens });
  const entering = flags.register ? client.register(account) : client.login(account);
  const user = await entering.catch((error: unknown) => {
    throw withAdvice(error);
  });
  const { email: loggedIn, id: userId } = user;
  const login = { email: loggedIn, userId, tokens: await tokens.read() };
  // Read before anything else can fail: a created account cannot be created again.
  const before = (await logins.read()).logins[url];
  await logins.save(url, { ...login, workspaceId: before?.email === loggedIn ? before.workspaceId : null });
  const who = { userId, known: new KnownWorkspaces(home, url, userId) };
  const workspace = await chooseWorkspace(client, user, flags.workspace, who, io).catch((error: unknown) => {
    if (!(error instanceof CliError)) throw error;
    throw new CliError(`${error.message} ${flags.register ? REGISTERED : LOGGED_IN}`, error.exitCode);
  });
  await logins.save(url, { ...login, workspaceId: workspace.id });
  const described = describeWorkspace(workspace, ownerText(workspace, userId));
  say(io.stdout, `Logged in to ${url} as ${printableLine(user.email)}, workspace ${described}.`);
  say(io.stderr, `Stored in ${printableLine(home)}.`);
  if (io.env.PATCHBAY_TOKEN) say(io.stderr, 'PATCHBAY_TOKEN is set, so commands use it instead.');
  return EXIT.ok;
}

/** "Log in first" does not help here. */
function withAdvice(error: unknown): unknown {
  if (!(error instanceof PatchbayError)) return error;
  const said = error.message.replace(/\.?$/, '.');
  if (error.code === 'INVALID_TOKEN') {
    return new CliError(`${said} To create an account, pass --register.`, EXIT.refused);
  }
  // Advice for members of a workspace does not help a user without an account.
  if (error.code === 'FORBIDDEN') {
    return new CliError(`${said} With an existing account, log in without --register.`, EXIT.refused);
  }
  if (error.code !== 'CONFLICT') return error;
  return new CliError(`${said} Log in without --register.`);
}

/** Rejects the address before a password is typed. */
function checkedEmail(email: string): string {
  if (/.@./.test(email)) return email;
  throw new CliError(`"${email}" is not an email address; use one such as ada@example.com.`, EXIT.usage);
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
  { email }: User,
  wanted: string | undefined,
  who: Pick<Settings, 'userId' | 'known'>,
  io: CliIo,
): Promise<Workspace> {
  const all = await client.workspaces();
  if (wanted) {
    const found = await findWorkspace(all, wanted, who);
    await settle(found, found.id === wanted, who, io);
    return found;
  }
  const picked = all.length > 1 && io.stdin.isTTY ? await pick(all, who, io) : null;
  const found = picked ?? onlyWorkspace(all, who.userId) ?? (await client.createWorkspace(nameFrom(email)));
  await settle(found, picked !== null, who, io);
  return found;
}

/** Lets the person choose from a list that names each owner. */
async function pick(
  all: readonly Workspace[],
  { userId }: Pick<Settings, 'userId'>,
  io: CliIo,
): Promise<Workspace> {
  for (const [index, one] of all.entries()) {
    const whose = ownerText(one, userId);
    const owner = whose === null ? 'created by you' : `of ${whose}`;
    say(io.stderr, `  ${index + 1}  ${printableLine(one.name)}, ${owner}`);
  }
  const chosen = all[Number(await ask(io, `Workspace [1-${all.length}]: `)) - 1];
  if (chosen) return chosen;
  throw new CliError('No such workspace.', EXIT.usage);
}

function nameFrom(email: string): string {
  return email.split('@')[0] || 'workspace';
}
