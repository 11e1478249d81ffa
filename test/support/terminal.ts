import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { CLIENT } from './processes.js';
import { describeWith } from './system-commands.js';
import { TerminalScreen, withoutEscapes } from './terminal-screen.js';
import { waitFor } from './wait-for.js';

const HELPER = fileURLToPath(new URL('./terminal.py', import.meta.url));

export const KEYS = {
  enter: '\r',
  ctrlC: '\u0003',
  ctrlD: '\u0004',
  escape: '\u001b',
  up: '\u001b[A',
} as const;

export interface TerminalOptions {
  columns?: number;
  rows?: number;
  env?: Record<string, string>;
  cwd?: string;
}

export interface TerminalExit {
  code: number | null;
  signal: string | null;
}

/** What the helper tells. */
interface Told {
  pid?: number;
  said?: string;
  code?: number;
  signal?: number;
}

/**
 * A command under a real pseudo-terminal, which Python's pty module gives us (terminal.py): its keyboard, its screen, its
 * size. Close it at the end of the test, whatever became of it.
 *
 * ```ts
 * const terminal = Terminal.patchbay(['connect'], { columns: 80, rows: 24, env });
 * await terminal.shows('[y]es');
 * terminal.type('y' + KEYS.enter);
 * expect(await terminal.exited).toEqual({ code: 0, signal: null });
 * ```
 */
export class Terminal {
  /** Everything that was written to the terminal, escape sequences included. */
  raw = '';
  /** Of the command; 0 until it has started. */
  pid = 0;
  readonly screen: TerminalScreen;
  readonly exited: Promise<TerminalExit>;
  private readonly helper: ChildProcess;
  /** Where in `raw` the answer to the last keys begins. */
  private since = 0;
  private ended: TerminalExit | null = null;
  private faults = '';

  private constructor(command: readonly string[], { columns = 80, rows = 24, env, cwd }: TerminalOptions) {
    this.screen = new TerminalScreen(columns, rows);
    this.helper = spawn('python3', [HELPER, String(columns), String(rows), ...command], {
      env: {
        PATH: process.env.PATH ?? '',
        TERM: 'xterm-256color',
        LANG: 'C.UTF-8',
        PYTHONCOERCECLOCALE: '0',
        ...env,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(cwd !== undefined && { cwd }),
    });
    // Whoever has ended takes no more keys.
    this.helper.stdin!.on('error', () => undefined);
    this.helper.stderr!.setEncoding('utf8').on('data', (text: string) => (this.faults += text));
    this.exited = this.listen();
  }

  /** Any command. */
  static run(command: readonly string[], options: TerminalOptions = {}): Terminal {
    return new Terminal(command, options);
  }

  /** The built command line, `patchbay <args>`. */
  static patchbay(args: readonly string[], options: TerminalOptions = {}): Terminal {
    return new Terminal([process.execPath, CLIENT, ...args], options);
  }

  /** What was said since the last keys, without escape sequences. */
  get said(): string {
    return withoutEscapes(this.raw.slice(this.since));
  }

  /** Presses keys; `shows` looks at what comes after them. */
  type(keys: string): void {
    this.since = this.raw.length;
    this.order({ type: keys });
  }

  /** Types a line, with Enter. */
  enter(line: string): void {
    this.type(line + KEYS.enter);
  }

  /** What is shown from here on is new. */
  mark(): void {
    this.since = this.raw.length;
  }

  /** Another window size; the command gets SIGWINCH. */
  resize(columns: number, rows: number): void {
    this.screen.resize(columns, rows);
    this.order({ columns, rows });
  }

  /** A signal for the command itself; Ctrl-C is a key. */
  signal(name: NodeJS.Signals): void {
    this.order({ signal: constants.signals[name] });
  }

  /** Waits until the text was shown since the last keys; fails at once where the command ends without it. */
  async shows(text: string | RegExp, timeoutMs = 20_000): Promise<void> {
    // Words are laid out for the window: what they say does not depend on where a row ends.
    const { source, flags } = typeof text === 'string' ? literal(text) : text;
    const pattern = new RegExp(source.replaceAll(' ', '\\s'), flags);
    const has = (): boolean => this.said.search(pattern) !== -1;
    const look = waitFor(() => has() || this.ended !== null, `the terminal to show ${text}`, timeoutMs);
    await look.catch((error: unknown) => {
      throw new Error(`${String(error)}:\n${this.log}`);
    });
    if (!has()) throw new Error(`It ended (${JSON.stringify(this.ended)}) without ${text}:\n${this.log}`);
  }

  /** Ends the command by kill -9, if it is still there. */
  async close(): Promise<void> {
    this.helper.stdin!.end();
    await this.exited;
  }

  /** The screen and all that scrolled away, for whoever looks into a failure. */
  get log(): string {
    return `${this.screen.all.join('\n')}\n${this.faults}`;
  }

  private order(what: object): void {
    this.helper.stdin!.write(`${JSON.stringify(what)}\n`);
  }

  private listen(): Promise<TerminalExit> {
    let rest = '';
    const decoder = new TextDecoder();
    const take = ({ pid, said, code, signal }: Told): void => {
      if (pid !== undefined) this.pid = pid;
      if (said !== undefined) {
        const text = decoder.decode(Buffer.from(said, 'base64'), { stream: true });
        this.raw += text;
        this.screen.write(text);
      }
      if (code !== undefined) this.ended = { code, signal: null };
      if (signal !== undefined) this.ended = { code: null, signal: signalName(signal) };
    };
    this.helper.stdout!.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      for (const line of lines) take(JSON.parse(line) as Told);
    });
    return new Promise((resolve) => {
      this.helper.once('close', () => resolve((this.ended ??= { code: null, signal: 'SIGKILL' })));
    });
  }
}

function signalName(number: number): string {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? String(number);
}

function literal(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
}

/** `describe` for tests that need a terminal. */
export function describeAtTerminal(name: string, tests: () => void): void {
  describeWith('python3 with its pty module', name, tests);
}
