import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { Option, type Command } from 'commander';
import { PatchbayClient, type PatchbayClientOptions } from '@patchbay/client';
import { CliError, EXIT } from './cli-error.js';
import { KnownWorkspaces } from './known-workspaces.js';
import { LoginFile } from './login-file.js';
import { say } from './say.js';
import { userIn } from './workspace-owner.js';

export const DEFAULT_URL = 'http://127.0.0.1:3000';

/** Where output goes and what is asked of the environment; a process, or a test. */
export interface CliIo {
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
  env: NodeJS.ProcessEnv;
}

/** The options that every command has. */
export interface CommonFlags {
  url?: string;
  token?: string;
  workspace?: string;
  home?: string;
}

/** Who is talking to which server. */
export interface Settings {
  home: string;
  url: string;
  client: PatchbayClient;
  logins: LoginFile;
  /** Whose decisions these are. */
  person: string;
  /** Of the login or the token; null where neither says it. */
  email: string | null;
  /** Whether there is a token, or a login that has one. */
  isKnown: boolean;
  /** Their id; null where nothing says it. */
  userId: string | null;
  /** Workspaces that they have chosen from this home before. */
  known: KnownWorkspaces;
  /** Id or name of the workspace, as it was passed. */
  named: string | null;
  /** Id of the one that the login has chosen. */
  ofLogin: string | null;
}

/** @throws CliError where there is neither a token nor a login to the server */
export function requireLogin({ isKnown, url }: Pick<Settings, 'isKnown' | 'url'>): void {
  if (isKnown) return;
  const message = `Not logged in to ${url}: run "patchbay login", or pass an access token (--token, PATCHBAY_TOKEN).`;
  throw new CliError(message, EXIT.refused);
}

/** The options that every command has which talks to a server. */
export function withCommonFlags(command: Command): Command {
  const options = [
    new Option('--url <url>', `the server (default: the last login's, or ${DEFAULT_URL})`).env(
      'PATCHBAY_URL',
    ),
    new Option('--token <token>', 'access token, instead of the login').env('PATCHBAY_TOKEN'),
    new Option('--workspace <id or name>', "the workspace (default: the login's)").env('PATCHBAY_WORKSPACE'),
    new Option('--home <dir>', 'credentials and journal (default: ~/.patchbay)').env('PATCHBAY_HOME'),
  ];
  for (const option of options) command.addOption(option.helpGroup('Who and where:'));
  return command;
}

/** Of a command that tells a person itself, and at once, that the server does not answer. */
export const TELLS_AT_ONCE = { retryDelaysMs: [200, 400] };

/** Longest that a command waits in all, in ms, for a server that has too many requests. */
const PATIENCE_MS = 60_000;

export async function settingsOf(
  flags: CommonFlags,
  io: Pick<CliIo, 'stderr'>,
  waits: Pick<PatchbayClientOptions, 'retryDelaysMs'> = {},
): Promise<Settings> {
  const home = resolve(flags.home || join(homedir(), '.patchbay'));
  const logins = new LoginFile(home);
  const stored = await logins.read();
  const url = serverUrl(flags.url || stored.current || DEFAULT_URL);
  const login = stored.logins[url];
  const client = new PatchbayClient({
    ...(flags.token ? { url, token: flags.token } : { url, tokenStore: logins.tokensOf(url) }),
    ...waits,
    patienceMs: PATIENCE_MS,
    onWait: (ms) => say(io.stderr, `The server has too many requests; waiting ${Math.ceil(ms / 1000)} s.`),
  });
  const isKnown = Boolean(flags.token || login?.tokens);
  const ofToken = userIn(flags.token || login?.tokens?.accessToken);
  const email = flags.token ? ofToken.email : (login?.email ?? null);
  const userId = flags.token ? ofToken.id : (login?.userId ?? ofToken.id);
  const person = email ?? (userId === null ? 'the owner of the token' : `user ${userId}`);
  const known = new KnownWorkspaces(home, url, userId);
  const named = flags.workspace || null;
  const ofLogin = login?.workspaceId ?? null;
  return { home, url, client, logins, person, email, isKnown, userId, known, named, ofLogin };
}

/** The server's origin, and the path that a proxy has it below; without a slash at the end. */
function serverUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isServer = url !== null && /^https?:$/.test(url.protocol);
  if (isServer && !url.search && !url.hash && !url.username && !url.password) {
    return url.origin + url.pathname.replace(/\/+$/, '');
  }
  const example = `${DEFAULT_URL} or https://example.com/patchbay`;
  throw new CliError(`"${text}" is not a server URL; an example is ${example}.`, EXIT.usage);
}
