import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { DEFAULT_MAX_FILE_BYTES } from '@patchbay/protocol';
import { printable } from './approval/printable.js';
import type { AuditFlags } from './audit-command.js';
import { EXIT, explain } from './cli-error.js';
import { CLI_VERSION } from './cli-version.js';
import type { ConnectFlags } from './connect-command.js';
import type { LoginFlags } from './login-command.js';
import { withCommonFlags, type CliIo } from './settings.js';
import type { SyncFlags } from './sync-command.js';
import type { TurnFlags } from './turn-command.js';

const EXIT_CODES = `
Exit codes: 0 done, 1 failed, 2 bad usage or input, 3 not logged in or not allowed, 4 server unreachable,
5 a call of the turn did not succeed, 6 the turn is still open, 7 another process is this client or syncs this folder,
8 some files were not synced, 130 interrupted.`;

// Each command loads what it needs: Socket.IO alone takes longer to load than an unchanged push takes in all.
const commands = {
  audit: () => import('./audit-command.js'),
  connect: () => import('./connect-command.js'),
  login: () => import('./login-command.js'),
  sync: () => import('./sync-command.js'),
  turn: () => import('./turn-command.js'),
};

/** Runs one command line (without node and script) and returns its exit code; prints what went wrong. */
export async function runCli(args: readonly string[], io: CliIo): Promise<number> {
  try {
    let exitCode: number = EXIT.ok;
    await programOf(io, (code) => (exitCode = code)).parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // commander has said what is wrong; its own code is 1 for every fault of usage.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const { message, exitCode } = explain(error);
    io.stderr.write(`patchbay: ${printable(message)}\n`);
    if (io.env.DEBUG && error instanceof Error) io.stderr.write(`${error.stack}\n`);
    return exitCode;
  }
}

function programOf(io: CliIo, done: (exitCode: number) => void): Command {
  const program = new Command('patchbay')
    .description("Runs an LLM's tool calls where they belong, and keeps the record.")
    .version(CLI_VERSION)
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: (text) => io.stderr.write(text) })
    .showHelpAfterError('(--help tells more)')
    .addHelpText('after', EXIT_CODES);
  const command = (usage: string, summary: string) =>
    withCommonFlags(program.command(usage).description(summary).summary(summary));

  command('login', 'log in, choose the workspace, keep both')
    .option('--email <address>', 'whose account (PATCHBAY_EMAIL)')
    .option('--register', 'make the account first')
    .addHelpText('after', '\nThe password is asked for, read from stdin, or taken from PATCHBAY_PASSWORD.')
    .action(async (flags: LoginFlags) => done(await (await commands.login()).login(flags, io)));

  command('connect', "execute the workspace's calls in this folder")
    .option('--root <dir>', 'a folder to connect; repeat for several (default: this one)', collect, [])
    .option('--yes', 'allow every call without asking')
    .option('--allow <glob>', 'allow calls on these paths without asking; repeat for several', collect, [])
    .addOption(new Option('--client-id <id>', 'default: one for these folders').env('PATCHBAY_CLIENT_ID'))
    .addOption(maxFileBytes('largest file that is written'))
    .option('--push', "make the folders' text files the Cloud's first")
    .option('--pull', 'offer what changes in the Cloud, one file after the other, to be taken over')
    .option('--no-watch', 'send no file by itself when it changes here')
    .addOption(folderName())
    .option(...SAME_PROJECT)
    .addHelpText(
      'after',
      '\nWithout a terminal, calls that no rule allows wait until their approval time runs out.',
    )
    .action(async (flags: ConnectFlags) => done(await (await commands.connect()).connect(flags, io)));

  syncFlags(command('push', "make this folder's text files the Cloud's"), 'push').action(
    async (directory: string, flags: SyncFlags) =>
      done(await (await commands.sync()).push(directory, flags, io)),
  );
  syncFlags(command('pull', "bring the Cloud's files into this folder"), 'pull').action(
    async (directory: string, flags: SyncFlags) =>
      done(await (await commands.sync()).pull(directory, flags, io)),
  );

  command('turn', 'post a turn and print its turn envelope')
    .argument('<file>', 'JSON: a turn, a list of calls, or one call; - reads stdin')
    .option('--session <id>', 'default: a new session')
    .option('--tools <list>', 'what a new session offers: names, client, server, read-only', commaList)
    .option('--wait <ms>', 'wait this long at most (default: until every call has ended)', wholeNumber)
    .action(async (file: string, flags: TurnFlags) =>
      done(await (await commands.turn()).turn(file, flags, io)),
    );

  auditFlags(command('audit', 'print the audit trail, oldest first')).action(async (flags: AuditFlags) =>
    done(await (await commands.audit()).audit(flags, io)),
  );
  return program;
}

function syncFlags(command: Command, verb: 'push' | 'pull'): Command {
  const [here, there] = verb === 'push' ? ['here', 'in the Cloud'] : ['in the Cloud', 'here'];
  return command
    .argument('[dir]', 'the folder', '.')
    .addOption(folderName())
    .option(...SAME_PROJECT)
    .option('--force', `make everything ${there} as it is ${here}, whatever has changed ${there}`)
    .option('--delete', `delete ${there} what was deleted ${here}, if it is unchanged`)
    .option('--dry-run', 'say what would be done, and do nothing')
    .option('--verbose', 'list everything that is left out')
    .addOption(maxFileBytes(`largest file that is ${verb}ed`));
}

const SAME_PROJECT = [
  '--same-project',
  'this folder is the project that has the name already, on another machine or moved',
] as const;

function folderName(): Option {
  return new Option(
    '--name <name>',
    "what the folder is called in the Cloud (default: as before, else the folder's own name)",
  );
}

function maxFileBytes(meaning: string): Option {
  return (
    new Option('--max-file-bytes <n>', `${meaning} (default: 8 MiB)`)
      .env('PATCHBAY_MAX_FILE_BYTES')
      // As with the server's settings, an empty variable counts as unset.
      .argParser((value) => (value === '' ? DEFAULT_MAX_FILE_BYTES : wholeNumber(value)))
  );
}

function auditFlags(command: Command): Command {
  return command
    .option('--session-id <id>')
    .option('--conversation-id <id>')
    .option('--turn-id <id>')
    .option('--tool-call-id <id>')
    .option('--tool-name <name>')
    .option('--event <name>', 'such as Tool.CreateFile.ResultReceived')
    .option('--success <true|false>', 'only results that report this', trueOrFalse)
    .option('--error-code <code>')
    .option('--path <path>')
    .option('--from <time>', 'ISO 8601, inclusive')
    .option('--to <time>', 'ISO 8601, inclusive')
    .option('--limit <n>', 'at most this many', wholeNumber)
    .option('--json', 'one JSON object a line');
}

function collect(value: string, all: string[]): string[] {
  return [...all, value];
}

function commaList(value: string): string[] {
  const items = value.split(',').map((item) => item.trim());
  if (items.includes('')) throw new InvalidArgumentError('It must be names, with commas between them.');
  return items;
}

function wholeNumber(value: string): number {
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('It must be a whole number.');
}

function trueOrFalse(value: string): boolean {
  if (value === 'true' || value === 'false') return value === 'true';
  throw new InvalidArgumentError('It must be true or false.');
}
