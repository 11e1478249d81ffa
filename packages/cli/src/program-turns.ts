import { type Command, InvalidArgumentError, Option } from 'commander';
import { CLOUD_CHANGES } from '@patchbay/protocol';
import { commaList, JSON_FLAG, SESSION, since, waitOption, wholeNumber } from './program-options.js';
import type { ApprovalsFlags } from './approvals-command.js';
import type { AuditFlags } from './audit-command.js';
import type { CancelFlags } from './cancel-command.js';
import type { MakeCommand, Done } from './program-command.js';
import type { RevertFlags } from './revert-command.js';
import type { CliIo } from './settings.js';
import type { TurnFlags } from './turn-command.js';

const commands = {
  approvals: () => import('./approvals-command.js'),
  audit: () => import('./audit-command.js'),
  cancel: () => import('./cancel-command.js'),
  revert: () => import('./revert-command.js'),
  turn: () => import('./turn-command.js'),
};

/** The commands that have to do with turns, and with what became of them. */
export function addTurnCommands(command: MakeCommand, io: CliIo, done: Done): void {
  command('turn', 'post a turn, or follow one, and print its turn envelope as JSON')
    .argument('[file]', 'JSON: a turn, a list of calls, or one call; - reads stdin')
    .option('--follow <turnId>', 'wait for a turn that is posted already, in the place of a file')
    .option('--session <id>', 'default: a new session, or the one of the turn that is followed')
    .option('--tools <list>', 'what a new session offers: names, client, server, read-only', commaList)
    .addOption(
      waitOption("wait this long at most (default: the file's waitMs, else until every call has ended)"),
    )
    .addHelpText(
      'after',
      '\nAt a terminal stderr tells what the turn waits for. Ctrl-C ends the wait, not the turn.',
    )
    .action(async (file: string | undefined, flags: TurnFlags) =>
      done(await (await commands.turn()).turn(file, flags, io)),
    );

  command('cancel', 'end what is open of a turn, or one call of it')
    .argument('<turnId>')
    .argument('[toolCallId]', 'default: every call that is open')
    .option(...SESSION)
    .option(JSON_FLAG[0], 'print the turn envelope')
    .action(async (turnId: string, call: string | undefined, flags: CancelFlags) =>
      done(await (await commands.cancel()).cancel(turnId, call, flags, io)),
    );

  command('revert', 'undo what was applied of a patch batch')
    .argument('<batchId>', 'from the result of workspace_write_patch, or the audit trail')
    .option('--allow-partial', 'leave out files that have moved on since, and say which')
    .option('--session <id>', 'whose client is to undo it (default: a new session)')
    .addOption(waitOption('wait this long at most for the client (default: until it is done)'))
    .option(JSON_FLAG[0], 'print the turn envelope, as turn does')
    .action(async (batchId: string, flags: RevertFlags) =>
      done(await (await commands.revert()).revert(batchId, flags, io)),
    );

  command('approvals', 'the rules of this machine, and which tools of the server a person is asked about')
    .addOption(new Option('--revoke <n>', 'end the rule of this number').argParser(wholeNumber))
    .addOption(toolsOption('--ask <tool...>', 'a person is asked before the server runs these'))
    .addOption(toolsOption('--not-ask <tool...>', 'nobody is asked about these any more'))
    .option(...JSON_FLAG)
    .addHelpText(
      'after',
      '\nA rule lets calls of one session through; it is taken with a or g where "connect" asks. Flags of a "connect"' +
        ' that runs, --yes and --allow, are not listed. Owners of the workspace change what is asked about.',
    )
    .action(async (flags: ApprovalsFlags) => done(await (await commands.approvals()).approvals(flags, io)));

  auditFlags(command('audit', 'print the audit trail, oldest first')).action(async (flags: AuditFlags) =>
    done(await (await commands.audit()).audit(flags, io)),
  );
}

function toolsOption(flags: string, meaning: string): Option {
  return new Option(flags, meaning).choices(CLOUD_CHANGES);
}

function auditFlags(command: Command): Command {
  return command
    .option('--session-id <id>')
    .option('--conversation-id <id>')
    .option('--turn-id <id>')
    .option('--tool-call-id <id>')
    .option('--call-id <id>', 'one call: its steps, and the files changed in it')
    .option('--batch-id <id>', 'the call of a patch batch')
    .option('--user-id <id>', 'what this user did')
    .option('--client-id <id>', 'what this client did')
    .option('--tool-name <name>')
    .option('--event <name>', 'such as Tool.CreateFile.ResultReceived')
    .addOption(trueOrFalse('--success <true|false>', 'only results that report this'))
    .option('--error-code <code>', 'one of docs/errors.md, or of a tool')
    .option(
      '--path <path>',
      'a file in any spelling, also without its folder; with / or /** at its end all that is below',
    )
    .option('--from <time>', 'ISO 8601, inclusive')
    .option('--to <time>', 'ISO 8601, inclusive')
    .addOption(since().conflicts('from'))
    .option('--limit <n>', 'at most this many, from the oldest', wholeNumber)
    .addOption(
      new Option('--last <n>', 'the newest of them, this many').argParser(wholeNumber).conflicts('limit'),
    )
    .option('--json', 'print JSON lines: one object an event')
    .addOption(new Option('--csv', 'print CSV (RFC 4180): a header, one row an event').conflicts('json'));
}

function trueOrFalse(flags: string, meaning: string): Option {
  const option = new Option(flags, meaning).choices(['true', 'false']);
  return option.argParser((value) => {
    if (option.argChoices!.includes(value)) return value === 'true';
    throw new InvalidArgumentError('It must be true or false.');
  });
}
