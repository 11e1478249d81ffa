import type { Done, MakeCommand } from './program-command.js';
import { JSON_FLAG } from './program-options.js';
import type { LoginFlags } from './login-command.js';
import type { LogoutFlags } from './logout-command.js';
import type { CliIo } from './settings.js';
import type { StatusFlags } from './status-command.js';
import type { WorkspacesFlags } from './workspaces-command.js';

const commands = {
  login: () => import('./login-command.js'),
  logout: () => import('./logout-command.js'),
  status: () => import('./status-command.js'),
  workspaces: () => import('./workspaces-command.js'),
};

const STATUS_JSON = `
--json: {server, user: {id, email}, workspace, moreTurns, othersTurns,
  clients: [{clientId, name, connected, since, roots}],
  turns: [{sessionId, turnId, userId, acceptedAt, calls}],
  folder: {directory, name, here: [{path, change}], inCloud: [{path, change}],
    conflicts: [{path, reason}], faults: [{path, reason}]} or null}`;

/** The commands about accounts and workspaces. */
export function addAccountCommands(command: MakeCommand, io: CliIo, done: Done): void {
  command('login', 'log in, choose the workspace, and store both')
    .option('--email <address>', 'email of the account (PATCHBAY_EMAIL)')
    .option('--register', 'create the account first')
    .addHelpText('after', '\nThe password is asked for, read from stdin, or taken from PATCHBAY_PASSWORD.')
    .action(async (flags: LoginFlags) => done(await (await commands.login()).login(flags, io)));

  command('logout', 'end the login at the server, and forget it here')
    .option('--local', 'forget it here only, if the server does not answer')
    .action(async (flags: LogoutFlags) => done(await (await commands.logout()).logout(flags, io)));

  command('workspaces', 'list your workspaces, or choose one')
    .argument('[id or name]', 'the workspace for the other commands')
    .option(...JSON_FLAG)
    .addHelpText(
      'after',
      '\n--json: {workspaces: [{id, name, role, owners, createdBy, approvals, createdAt, isCurrent}]}',
    )
    .action(async (wanted: string | undefined, flags: WorkspacesFlags) =>
      done(await (await commands.workspaces()).workspaces(wanted, flags, io)),
    );

  command('status', 'show user, server, clients and open turns, and how a folder differs from the Cloud')
    .argument('[dir]', 'the folder to compare with the Cloud', '.')
    .option(...JSON_FLAG)
    .addHelpText('after', STATUS_JSON)
    .action(async (directory: string, flags: StatusFlags) =>
      done(await (await commands.status()).status(directory, flags, io)),
    );
}
