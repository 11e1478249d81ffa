import type { User, Workspace } from '@patchbay/protocol';
import { PatchbayError, PatchbayClient, MemoryTokenStore } from '@patchbay/client';
import { printableLine } from './approval/printable.js';
import { CliError, EXIT } from './cli-error.js';
import { findWorkspace, onlyWorkspace, settle } from './choose-workspace.js';
import { KnownWorkspaces } from './known-workspaces.js';
import { ask, askSecret, readAll } from './prompt.js';
import { say } from './say.js';
import { settingsOf, type CliIo, type CommonFlags, type Settings } from './settings.js';
import { describeWorkspace, whoseIs } from './workspace-owner.js';

const TO_CHOOSE = 'with another --workspace (or PATCHBAY_WORKSPACE), or without one, to choose it.';
const LOGGED_IN = `You are logged in; run "patchbay login" ${TO_CHOOSE}`;
const REGISTERED = `The account is created and you are logged in; run "patchbay login" without --register, ${TO_CHOOSE}`;

export interface LoginFlags extends CommonFlags {
  email?: string;
  register?: boolean;
}

/** `patchbay login`: proves who one is, chooses the workspace, and keeps both for the other commands. */
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
  // Before anything else can fail: an account that was just made can not be made again.
  const before = (await logins.read()).logins[url];
  await logins.save(url, { ...login, workspaceId: before?.email === loggedIn ? before.workspaceId : null });
  const who = { userId, known: new KnownWorkspaces(home, url, userId) };
  const workspace = await chooseWorkspace(client, user, flags.workspace, who, io).catch((error: unknown) => {
    if (!(error instanceof CliError)) throw error;
    throw new CliError(`${error.message} ${flags.register ? REGISTERED : LOGGED_IN}`, error.exitCode);
  });
  await logins.save(url, { ...login, workspaceId: workspace.id });
  const described = describeWorkspace(workspace, whoseIs(workspace, userId));
  say(io.stdout, `Logged in to ${url} as ${printableLine(user.email)}, workspace ${described}.`);
  say(io.stderr, `Kept in ${printableLine(home)}.`);
  if (io.env.PATCHBAY_TOKEN) say(io.stderr, 'PATCHBAY_TOKEN is set, and commands go on to use it.');
  return EXIT.ok;
}

/** "Log in first" would be no help here. */
function withAdvice(error: unknown): unknown {
  if (!(error instanceof PatchbayError)) return error;
  const said = error.message.replace(/\.?$/, '.');
  if (error.code === 'INVALID_TOKEN') {
    return new CliError(`${said} To create an account, add --register.`, EXIT.refused);
  }
  // What helps a member of a workspace helps nobody who has no account.
  if (error.code === 'FORBIDDEN') {
    return new CliError(`${said} If you have an account, log in without --register.`, EXIT.refused);
  }
  if (error.code !== 'CONFLICT') return error;
  return new CliError(`${said} Log in without --register.`);
}

/** Refused before a password is typed for it. */
function checkedEmail(email: string): string {
  if (/.@./.test(email)) return email;
  throw new CliError(`"${email}" is not an email address; an example is ada@example.com.`, EXIT.usage);
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

/** Has the person choose from a list that says whose each one is. */
async function pick(
  all: readonly Workspace[],
  { userId }: Pick<Settings, 'userId'>,
  io: CliIo,
): Promise<Workspace> {
  for (const [index, one] of all.entries()) {
    const whose = whoseIs(one, userId);
    const told = whose === null ? 'made by you' : `of ${whose}`;
    say(io.stderr, `  ${index + 1}  ${printableLine(one.name)}, ${told}`);
  }
  const chosen = all[Number(await ask(io, `Workspace [1-${all.length}]: `)) - 1];
  if (chosen) return chosen;
  throw new CliError('No such workspace.', EXIT.usage);
}

function nameFrom(email: string): string {
  return email.split('@')[0] || 'workspace';
}
