import { Argument, Command, CommanderError, Option, type OutputConfiguration } from 'commander';
import { GLOB_LANGUAGE } from './approval/glob-language.js';
import { sizeOf, wrapFor, wrapWords } from './approval/fit.js';
import { printable } from './approval/printable.js';
import { EXIT, explain } from './cli-error.js';
import { CLI_VERSION } from './cli-version.js';
import { COMPLETION_FILES, COMPLETION_HELP, type CompletedShell } from './completion/completed-shells.js';
import type { ConnectFlags } from './connect-command.js';
import { addAccountCommands } from './program-account.js';
import type { Done, MakeCommand } from './program-command.js';
import { folderName, includeSecrets, maxFileBytes, repeated, SAME_PROJECT } from './program-options.js';
import { readableReason } from './readable-reason.js';
import { addTurnCommands } from './program-turns.js';
import { say } from './say.js';
import { withCommonFlags, type CliIo } from './settings.js';
import type { SyncFlags } from './sync-command.js';

const EXIT_CODES = `
Exit codes: 0 done, 1 failed, 2 bad usage or input, 3 not logged in or not
allowed, 4 server unreachable, 5 a call of the turn did not succeed, 6 the turn
is still open, 7 another process is this client or syncs this folder,
8 some files were not synced, 130 interrupted.`;

// Each command loads only its own modules: Socket.IO takes longer to load than an unchanged push takes in total.
const commands = {
  completion: () => import('./completion/completion-command.js'),
  connect: () => import('./connect-command.js'),
  sync: () => import('./sync-command.js'),
};

/** Runs one command line (without node and script), prints errors, and returns the exit code. */
export async function runCli(args: readonly string[], io: CliIo): Promise<number> {
  try {
    let exitCode: number = EXIT.ok;
    await programOf(io, (code) => (exitCode = code)).parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // commander has printed the error; its own code is 1 for every usage error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const { message, exitCode } = explain(error);
    say(io.stderr, `patchbay: ${readableReason(message)}`);
    if (io.env.DEBUG && error instanceof Error) say(io.stderr, printable(error.stack ?? message));
    return exitCode;
  }
}

function helpOn({ stdout, stderr }: CliIo): OutputConfiguration {
  const columns = (stream: NodeJS.WriteStream) => sizeOf(stream).columns;
  return {
    getOutHelpWidth: () => columns(stdout),
    getErrHelpWidth: () => columns(stderr),
    writeOut: (text) => void stdout.write(wrapWords(text, columns(stdout))),
    writeErr: (text) => void stderr.write(wrapFor(stderr, printable(text))),
  };
}

function programOf(io: CliIo, done: Done): Command {
  const program = new Command('patchbay')
    .description("Routes an LLM's tool calls to where they can run, and records every step.")
    .version(CLI_VERSION)
    .exitOverride()
    .configureOutput(helpOn(io))
    .configureHelp({ minWidthToWrap: 20 })
    .showHelpAfterError('(see --help)')
    .addHelpText('after', EXIT_CODES);
  const command: MakeCommand = (usage, summary) =>
    withCommonFlags(program.command(usage).description(summary).summary(summary));

  addAccountCommands(command, io, done);

  command('connect', "execute the workspace's calls in this folder")
    .argument('[dir]', 'the folder (default: ".")')
    .addOption(repeated('--root <dir>', 'another folder to connect; repeatable'))
    .option('--yes', 'allow every call without asking, except changes of a .gitignore')
    .addOption(repeated('--allow <glob>', 'allow calls on these paths without asking; repeatable'))
    .addOption(
      new Option('--client-id <id>', 'client id (default: one for these folders)').env('PATCHBAY_CLIENT_ID'),
    )
    .addOption(maxFileBytes('largest file that is written'))
    .option('--push', "push the folders' text files first")
    .option('--pull', 'ask about each file that changes in the Cloud, and pull it if allowed')
    .option('--no-watch', 'do not send files automatically when they change here')
    .option('--verbose', 'list every file that is not sent to the Cloud')
    .option('--json', 'print executed calls as JSON lines on stderr, as without a terminal')
    .addOption(includeSecrets())
    .addOption(folderName())
    .option(...SAME_PROJECT)
    .addHelpText(
      'after',
      `\nA glob: ${GLOB_LANGUAGE}\nIt is matched against <folder>/<path below it>; with one folder its name may be omitted.` +
        '\n\nWithout a terminal, calls that no rule allows wait until their approval time runs out.',
    )
    .action(async (directory: string | undefined, flags: ConnectFlags) =>
      done(await (await commands.connect()).connect(directory, flags, io)),
    );

  syncFlags(command('push', "send this folder's text files to the Cloud"), 'push')
    .addOption(includeSecrets())
    .action(async (directory: string, flags: SyncFlags) =>
      done(await (await commands.sync()).push(directory, flags, io)),
    );
  syncFlags(command('pull', "fetch the Cloud's files into this folder"), 'pull').action(
    async (directory: string, flags: SyncFlags) =>
      done(await (await commands.sync()).pull(directory, flags, io)),
  );

  addTurnCommands(command, io, done);

  const completes = 'print a script that completes commands and options in your shell';
  program
    .command('completion')
    .description(completes)
    .summary(completes)
    .addArgument(new Argument('<shell>').choices(Object.keys(COMPLETION_FILES)))
    .addHelpText('after', COMPLETION_HELP)
    .action(async (shell: CompletedShell) =>
      done((await commands.completion()).completion(shell, program, io)),
    );
  return program;
}

function syncFlags(command: Command, verb: 'push' | 'pull'): Command {
  const [here, there] = verb === 'push' ? ['here', 'in the Cloud'] : ['in the Cloud', 'here'];
  return command
    .argument('[dir]', 'the folder', '.')
    .addOption(folderName())
    .option(...SAME_PROJECT)
    .option('--force', `overwrite changes ${there} with the state ${here}`)
    .option('--delete', `delete files ${there} that were deleted ${here}, if they are unchanged`)
    .option('--dry-run', 'print what would be done, and do nothing')
    .option('--verbose', 'list every file that is left out')
    .addOption(maxFileBytes(`largest file that is ${verb}ed`));
}
