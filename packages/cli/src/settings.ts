import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { Option, type Command } from 'commander';
import { PatchbayClient, type PatchbayClientOptions } from '@patchbay/client';
import { CliError, EXIT } from './cli-error.js';
import { KnownWorkspaces } from './known-workspaces.js';
import { LoginFile } from './login-file.js';
import { say } from './say.js';
import { userOfToken } from './workspace-owner.js';

export const DEFAULT_URL = 'http://127.0.0.1:3000';

/** Streams and environment of a process, or of a test. */
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

/** The user, the server and the workspace of a command. */
export interface Settings {
  home: string;
  url: string;
  client: PatchbayClient;
  logins: LoginFile;
  /** The name for approvals. */
  person: string;
  /** Email of the login or the token; null if unknown. */
  email: string | null;
  /** Whether there is a token, or a login with one. */
  isKnown: boolean;
  /** Null if unknown. */
  userId: string | null;
  /** Workspaces that were chosen from this home before. */
  known: KnownWorkspaces;
  /** Id or name of the workspace, as passed. */
  named: string | null;
  /** Id of the workspace that the login has chosen. */
  ofLogin: string | null;
}

/** @throws CliError without a token or a login to the server */
export function requireLogin({ isKnown, url }: Pick<Settings, 'isKnown' | 'url'>): void {
  if (isKnown) return;
  const message = `Not logged in to ${url}: run "patchbay login", or pass an access token (--token, PATCHBAY_TOKEN).`;
  throw new CliError(message, EXIT.refused);
}

/** The options of every command that talks to a server. */
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

/** For commands that report a missing server themselves, and at once. */
export const REPORT_AT_ONCE = { retryDelaysMs: [200, 400] };

/** Longest total wait of a command for a server that limits its requests, in ms. */
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
    onWait: (ms) => say(io.stderr, `The server limits requests; waiting ${Math.ceil(ms / 1000)} s.`),
  });
  const isKnown = Boolean(flags.token || login?.tokens);
  const ofToken = userOfToken(flags.token || login?.tokens?.accessToken);
  const email = flags.token ? ofToken.email : (login?.email ?? null);
  const userId = flags.token ? ofToken.id : (login?.userId ?? ofToken.id);
  const person = email ?? (userId === null ? 'the owner of the token' : `user ${userId}`);
  const known = new KnownWorkspaces(home, url, userId);
  const named = flags.workspace || null;
  const ofLogin = login?.workspaceId ?? null;
  return { home, url, client, logins, person, email, isKnown, userId, known, named, ofLogin };
}

/** The server's origin and the path below which a proxy serves it, without a slash at the end. */
function serverUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isServer = url !== null && /^https?:$/.test(url.protocol);
  if (isServer && !url.search && !url.hash && !url.username && !url.password) {
    return url.origin + url.pathname.replace(/\/+$/, '');
  }
  const example = `${DEFAULT_URL} or https://example.com/patchbay`;
  throw new CliError(`"${text}" is not a server URL; use one such as ${example}.`, EXIT.usage);
}
