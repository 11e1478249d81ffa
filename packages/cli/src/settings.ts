import { homedir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { Option, type Command } from 'commander';
import { PatchbayClient, type WorkspaceClient } from '@patchbay/client';
import { CliError, EXIT } from './cli-error.js';
import { findWorkspace, onlyWorkspace } from './find-workspace.js';
import { LoginFile } from './login-file.js';

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
  /** Whether there is a token, or a login that has one. */
  isKnown: boolean;
  /** As it was passed, else the login's; null where neither says one. */
  workspace: { id: string } | { name: string } | null;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function withCommonFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--url <url>', `the server (default: the last login's, or ${DEFAULT_URL})`).env(
        'PATCHBAY_URL',
      ),
    )
    .addOption(new Option('--token <token>', 'access token, instead of the login').env('PATCHBAY_TOKEN'))
    .addOption(
      new Option('--workspace <id or name>', "the workspace (default: the login's)").env(
        'PATCHBAY_WORKSPACE',
      ),
    )
    .addOption(
      new Option('--home <dir>', 'credentials and journal (default: ~/.patchbay)').env('PATCHBAY_HOME'),
    );
}

export async function settingsOf(flags: CommonFlags): Promise<Settings> {
  const home = resolve(flags.home || join(homedir(), '.patchbay'));
  const logins = new LoginFile(home);
  const stored = await logins.read();
  const url = serverUrl(flags.url || stored.current || DEFAULT_URL);
  const login = stored.logins[url];
  const client = flags.token
    ? new PatchbayClient({ url, token: flags.token })
    : new PatchbayClient({ url, tokenStore: logins.tokensOf(url) });
  const person = (flags.token ? undefined : login?.email) ?? userInfo().username;
  const isKnown = Boolean(flags.token || login?.tokens);
  const workspace = workspaceNamed(flags.workspace, login?.workspaceId);
  return { home, url, client, logins, person, isKnown, workspace };
}

/** The workspace that a command works in: the one that is named, else the only one there is. */
export async function workspaceOf({ client, isKnown, workspace }: Settings): Promise<WorkspaceClient> {
  if (workspace && 'id' in workspace) return client.workspace(workspace.id);
  const all = workspace || isKnown ? await client.workspaces() : [];
  const found = workspace ? findWorkspace(all, workspace.name) : onlyWorkspace(all);
  if (found) return client.workspace(found.id);
  throw new CliError(
    'No workspace chosen: run "patchbay login", or pass --workspace <id> or PATCHBAY_WORKSPACE.',
    EXIT.usage,
  );
}

function workspaceNamed(passed?: string, ofLogin?: string | null): Settings['workspace'] {
  const named = passed || ofLogin;
  if (!named) return null;
  return named === ofLogin || UUID.test(named) ? { id: named } : { name: named };
}

function serverUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.origin;
  throw new CliError(`"${text}" is no server URL; it looks like ${DEFAULT_URL}.`, EXIT.usage);
}
