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

/** The commands about turns and their results. */
export function addTurnCommands(command: MakeCommand, io: CliIo, done: Done): void {
  command('turn', 'post a turn, or follow one, and print the turn result as JSON')
    .argument('[file]', 'JSON: a turn, a list of calls, or one call; - reads stdin')
    .option('--follow <turnId>', 'wait for a posted turn, instead of posting a file')
    .option('--session <id>', 'default: a new session, or that of the followed turn')
    .option('--tools <list>', 'tools of a new session: names, client, server, read-only', commaList)
    .addOption(
      waitOption("wait this long at most (default: the file's waitMs, else until every call has ended)"),
    )
    .addHelpText(
      'after',
      '\nAt a terminal, stderr shows what the turn waits for. Ctrl-C ends the wait, not the turn.',
    )
    .action(async (file: string | undefined, flags: TurnFlags) =>
      done(await (await commands.turn()).turn(file, flags, io)),
    );

  command('cancel', 'cancel the open calls of a turn, or one call')
    .argument('<turnId>')
    .argument('[toolCallId]', 'default: every open call')
    .option(...SESSION)
    .option(JSON_FLAG[0], 'print the turn result')
    .action(async (turnId: string, call: string | undefined, flags: CancelFlags) =>
      done(await (await commands.cancel()).cancel(turnId, call, flags, io)),
    );

  command('revert', 'undo the applied changes of a patch batch')
    .argument('<batchId>', 'from the result of workspace_write_patch, or the audit trail')
    .option('--allow-partial', 'skip files that have changed since, and name them')
    .option('--session <id>', 'the session whose client undoes it (default: a new session)')
    .addOption(waitOption('wait this long at most for the client (default: until it is done)'))
    .option(JSON_FLAG[0], 'print the turn result, as turn does')
    .action(async (batchId: string, flags: RevertFlags) =>
      done(await (await commands.revert()).revert(batchId, flags, io)),
    );

  command('approvals', 'the rules of this machine, and the server tools that need approval')
    .addOption(new Option('--revoke <n>', 'revoke the rule with this number').argParser(wholeNumber))
    .addOption(toolsOption('--ask <tool...>', 'require approval for these server tools'))
    .addOption(toolsOption('--not-ask <tool...>', 'require no approval for these'))
    .option(...JSON_FLAG)
    .addHelpText(
      'after',
      '\nA rule allows calls of one session; create one with a or g when "connect" asks. The flags --yes and --allow' +
        ' of a running "connect" are not listed. Only owners of the workspace change which tools need approval.',
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
    .option('--error-code <code>', 'from docs/errors.md, or a code of a tool')
    .option(
      '--path <path>',
      'a file in any spelling, also without its folder; a trailing / or /** matches everything below',
    )
    .option('--from <time>', 'ISO 8601, inclusive')
    .option('--to <time>', 'ISO 8601, inclusive')
    .addOption(since().conflicts('from'))
    .option('--limit <n>', 'at most this many events, from the oldest', wholeNumber)
    .addOption(
      new Option('--last <n>', 'the newest events, at most this many')
        .argParser(wholeNumber)
        .conflicts('limit'),
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
