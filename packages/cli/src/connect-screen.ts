import type { RelayState } from '@patchbay/client/relay';
import type { Question } from '@patchbay/workspace';
import { clip, sizeOf } from './approval/fit.js';
import { type Marks, marksFor } from './approval/marks.js';
import { paintDiffLine, previewOf } from './approval/preview.js';
import { printableJson, printableLine } from './approval/printable.js';
import {
  type ApprovalRules,
  type ChangeApprover,
  RuleApprover,
  SessionRuleApprover,
} from './approval/rule-approver.js';
import type { RuleStore } from './approval/session-rules.js';
import { TerminalApprover } from './approval/terminal-approver.js';
import { type CallOutput, CallReporter } from './call-reporter.js';
import { callText } from './outcome-text.js';
import { say } from './say.js';
import type { CliIo, Settings } from './settings.js';

/** Lines of a file that are shown if nobody is asked. */
const SHOWN_LINES = 10;

/** Shorter waits are not reported, in ms. */
const SILENT_WAIT_MS = 20_000;

/** The connected folders and their workspace; safe to print. */
export interface Connected {
  /** `"acme", of bob@example.com`. */
  workspace: string;
  /** What the model can see of each folder. */
  folders: () => readonly string[];
}

type Announcements = {
  [S in RelayState['status']]: (state: Extract<RelayState, { status: S }>) => void;
};

/**
 * The screen of `patchbay connect`. stdout gets `connected`, once, for the process that started it, and the
 * questions. stderr gets everything else: words at a terminal, JSON lines otherwise.
 */
export class ConnectScreen implements CallOutput {
  readonly approver: ChangeApprover;
  readonly calls = new CallReporter(this);
  readonly marks: Marks;
  isConnected = false;
  isLeaving = false;
  private readonly terminal: TerminalApprover | null;
  /** Words for a person at stderr; else JSON lines for a program. */
  readonly isReadable: boolean;
  private wasConnected = false;
  private lastReason = '';

  private readonly announcements: Announcements = {
    connected: () => this.connected(),
    reconnecting: ({ reason, delayMs }) => this.disconnected(printableLine(reason), delayMs),
    ended: () => (this.isConnected = false),
  };

  constructor(
    rules: ApprovalRules & { ofSessions: RuleStore },
    private readonly settings: Settings,
    private readonly what: Connected,
    private readonly io: CliIo,
    { json = false } = {},
  ) {
    const { stdin, stdout, stderr, env } = io;
    this.isReadable = !json && Boolean(stderr.isTTY);
    this.marks = marksFor(stderr, env);
    const onAllowed = (question: Question, rule: string) => this.allowed(question, rule);
    const asking = {
      ...{ by: settings.person, rules: rules.ofSessions, input: stdin, output: stdout, env, onAllowed },
      onDecided: this.calls.remember.bind(this.calls),
    };
    this.terminal = stdin.isTTY && stdout.isTTY ? new TerminalApprover(asking) : null;
    const otherwise = this.terminal ?? new SessionRuleApprover(rules.ofSessions, settings.person, onAllowed);
    const approver = new RuleApprover(rules, otherwise, onAllowed);
    this.approver = {
      decide: (question, signal) => {
        this.calls.remember(question, question.files);
        return approver.decide(question, signal);
      },
    };
  }

  onState(state: RelayState): void {
    (this.announcements[state.status] as (state: RelayState) => void)(state);
  }

  /** Reports an executed call as a JSON line for a program [AUDIT-6]. */
  executed(line: object): void {
    if (!this.isReadable) this.interject(() => void this.io.stderr.write(`${printableJson(line)}\n`));
  }

  /** Reports the outcome of a call to a person. */
  say(line: string): void {
    if (this.isReadable) this.print(line);
  }

  /** Prints to stderr without breaking an open question. */
  print(lines: string): void {
    this.interject(() => say(this.io.stderr, lines));
  }

  private interject(print: () => void): void {
    if (this.terminal) this.terminal.dialogue.interject(print);
    else print();
  }

  /** The person leaves: stops asking, and says in one line what was unfinished. */
  leave(): void {
    if (this.isLeaving) return;
    this.isLeaving = true;
    const asked = this.terminal?.waiting ?? [];
    this.terminal?.dialogue.close();
    const open = [...asked.map(({ call, files }) => callText(call, files)), ...this.calls.unconfirmed];
    const { started } = this.calls;
    const others = open.length > 1 ? ` (and ${open.length - 1} more)` : '';
    const parts = [
      ...(open.length > 0 ? [`${open[0]}${others}: nothing is written, it stays open.`] : []),
      ...(started.length > 0 ? [`Started calls may end first, 5 s at most: ${started.join(', ')}.`] : []),
      ...(open.length > 0 ? ['"patchbay connect" here asks again.'] : []),
    ];
    const unfinished = parts.length > 0 ? parts.join(' ') : 'No call was open.';
    say(this.io.stderr, `patchbay: Interrupted. ${unfinished}`);
  }

  private connected(): void {
    this.isConnected = true;
    this.lastReason = '';
    if (this.wasConnected) return this.print('Connected again.');
    this.wasConnected = true;
    const { url, person } = this.settings;
    const folders = this.what.folders();
    this.print(`Workspace ${this.what.workspace} at ${printableLine(url)}, as ${printableLine(person)}.`);
    for (const folder of folders) this.print(folder);
    this.io.stdout.write('connected\n');
  }

  /** Reported once per reason: the client retries indefinitely. */
  private disconnected(reason: string, delayMs: number): void {
    const wasConnected = this.isConnected;
    this.isConnected = false;
    if (reason === this.lastReason) return;
    this.lastReason = reason;
    const what = wasConnected
      ? 'The connection to the server is lost'
      : `No connection to ${printableLine(this.settings.url)}`;
    const when = delayMs > SILENT_WAIT_MS ? `next try in ${Math.round(delayMs / 1000)} s` : 'retrying';
    this.print(`${what} (${reason}); ${when}.`);
    if (wasConnected && this.terminal) this.print('Your answers are kept until it is back.');
  }

  private allowed(question: Question, rule: string): void {
    const { stderr } = this.io;
    const { columns } = sizeOf(stderr);
    const fit = (line: string) => (stderr.isTTY ? clip(line, columns, this.marks.more) : line);
    for (const file of question.files) {
      const { title, notes, lines } = previewOf(file, this.marks);
      const name = printableLine(question.call.name);
      const shown = lines.slice(0, SHOWN_LINES).map((line) => paintDiffLine(fit(line), stderr));
      const more = lines.length > SHOWN_LINES ? [this.marks.more] : [];
      const text = [
        `${name} ${title}, allowed by ${printableLine(rule)}`,
        ...notes.map((note) => fit(`  ${note}`)),
      ];
      this.print([...text, ...shown, ...more].join('\n'));
    }
  }
}
