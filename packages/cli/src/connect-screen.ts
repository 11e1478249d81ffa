import type { RelayState } from '@patchbay/client/relay';
import { WaitingApprover, type Question } from '@patchbay/workspace';
import { previewOf } from './approval/preview.js';
import { printableLine } from './approval/printable.js';
import { RuleApprover, type ApprovalRules } from './approval/rule-approver.js';
import { TerminalApprover } from './approval/terminal-approver.js';
import type { CliIo, Settings } from './settings.js';

/** Lines of a file that are shown where nobody is asked. */
const SHOWN_LINES = 10;

type Announcements = {
  [S in RelayState['status']]: (state: Extract<RelayState, { status: S }>) => void;
};

/**
 * What `patchbay connect` shows and asks. stdout says `connected`, once, for whoever started the process, and has the
 * questions; stderr has everything else, each execution as one JSON line.
 */
export class ConnectScreen {
  readonly approver: RuleApprover;
  private readonly terminal: TerminalApprover | null;
  private wasConnected = false;

  private readonly announcements: Announcements = {
    connected: () => this.connected(),
    reconnecting: ({ reason, delayMs }) => {
      const seconds = (delayMs / 1000).toFixed(1);
      this.say(
        `No connection to ${this.settings.url} (${printableLine(reason)}); trying again in ${seconds} s.`,
      );
    },
    ended: () => undefined,
  };

  constructor(
    rules: ApprovalRules,
    private readonly settings: Settings,
    private readonly workspaceId: string,
    private readonly directories: readonly string[],
    private readonly io: CliIo,
  ) {
    const { stdin, stdout } = io;
    const canAsk = stdin.isTTY && stdout.isTTY;
    this.terminal = canAsk
      ? new TerminalApprover({ by: settings.person, input: stdin, output: stdout })
      : null;
    const people = this.terminal ?? new WaitingApprover();
    this.approver = new RuleApprover(rules, people, (request, rule) => this.allowed(request, rule));
  }

  onState(state: RelayState): void {
    (this.announcements[state.status] as (state: RelayState) => void)(state);
  }

  /** One line on stderr, which leaves a question that is being answered intact. */
  say(line: string): void {
    const print = () => void this.io.stderr.write(`${line}\n`);
    if (this.terminal) this.terminal.interject(print);
    else print();
  }

  private connected(): void {
    if (this.wasConnected) return this.say('Connected again.');
    this.wasConnected = true;
    const { url } = this.settings;
    this.say(`Executing calls of workspace ${this.workspaceId} at ${url} in ${this.directories.join(', ')}.`);
    this.io.stdout.write('connected\n');
  }

  private allowed({ call, files }: Question, rule: string): void {
    for (const file of files) {
      const { title, lines } = previewOf(file, this.io.stderr);
      this.say(`${printableLine(call.name)} ${title}, allowed by ${printableLine(rule)}`);
      const shown = lines.length > SHOWN_LINES ? [...lines.slice(0, SHOWN_LINES), '…'] : lines;
      for (const line of shown) this.say(line);
    }
  }
}
