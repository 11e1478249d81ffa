import { createInterface, type Interface } from 'node:readline/promises';
import { clearScreenDown, cursorTo, moveCursor } from 'node:readline';
import { styleText } from 'node:util';
import { sizeOf, wrapFor } from './fit.js';
import { showInPager } from './pager.js';
import { type Marks, marksFor } from './marks.js';
import { isolateRtl } from './printable.js';
import type { Paper } from './question-text.js';
import { dropTyped } from './typed-ahead.js';

/** The person can't be asked any more. */
export class TerminalGone extends Error {}

/** So long, in ms, nothing may be typed before a question counts as asked; and after one that was withdrawn. */
const QUIET_MS = 50;
const WITHDRAWN_MS = 500;
/** What comes so soon, in ms, after a line was no answer that a person has typed. */
const PASTE_MS = 20;
const PASTED = 'More than one line came at once, so none of it counts as an answer.';
/** A line, and something of another one behind it. */
const SEVERAL_LINES = /[\r\n][^]*[^\r\n]/;

/** Longest that a window is being dragged, in ms, before what it shows is laid out anew. */
const RESIZED_MS = 100;

export interface DialogueOptions {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  env: NodeJS.ProcessEnv;
}

/** A terminal at which one question at a time is asked, between lines of something else. */
export class Dialogue {
  readonly output: NodeJS.WritableStream;
  readonly marks: Marks;
  private readonly input: NodeJS.ReadableStream;
  private readonly env: NodeJS.ProcessEnv;
  private reader: Interface | null = null;
  private question: () => string = () => '';
  /** Another program has the terminal: what is said waits. */
  private held: (() => void)[] | null = null;
  private isClosed = false;
  private wasWithdrawn = false;

  constructor({ input, output, env }: DialogueOptions) {
    [this.input, this.output, this.env] = [input, output, env];
    this.marks = marksFor(output, env);
  }

  /** As it is right now. */
  get paper(): Paper {
    return { size: sizeOf(this.output), marks: this.marks, stream: this.output };
  }

  get isTerminal(): boolean {
    return 'isTTY' in this.output && this.output.isTTY === true;
  }

  print(text: string): void {
    if (!this.isClosed) this.output.write(`${isolateRtl(text, this.output)}\n`);
  }

  /** Prints words, none of which is broken at the edge of the window. */
  say(text: string): void {
    this.print(wrapFor(this.output, text));
  }

  /** Prints something else, without tearing the question that stands open. */
  interject(print: () => void): void {
    if (this.held) return void this.held.push(print);
    const { reader, question } = this;
    if (!reader) return print();
    const rows = this.leaveQuestion(reader);
    print();
    reader.setPrompt(question());
    // The reader goes back up over the rows that its question had.
    this.output.write('\n'.repeat(rows));
    reader.prompt(true);
  }

  /** Nothing is asked or printed any more; a question that stands open stays as it is. */
  close(): void {
    if (this.isClosed) return;
    if (this.reader) this.output.write('\n');
    this.isClosed = true;
    this.reader?.close();
  }

  /**
   * The person's answer; null for a Ctrl-D, the way back. What was typed before the question is on the screen answers
   * nothing, and neither does a paste of several lines. `onResize` is called when the window has another size, and
   * `question` for the text that fits it.
   * @throws TerminalGone where the input has ended
   */
  async ask(
    question: string | (() => string),
    signal: AbortSignal,
    onResize?: () => void,
  ): Promise<string | null> {
    this.question = () => wrapFor(this.output, typeof question === 'string' ? question : question());
    const stop = onResize && this.whenResized(onResize);
    try {
      for (;;) {
        await dropTyped(this.input, this.wasWithdrawn ? WITHDRAWN_MS : QUIET_MS, signal);
        if (!this.input.readable || this.isClosed) throw new TerminalGone();
        const { answer, isPasted } = await this.answer(this.question(), signal);
        this.wasWithdrawn = false;
        if (isPasted) this.say(PASTED);
        else if (answer !== null) return answer;
        else return this.wayBack();
      }
    } catch (error) {
      this.wasWithdrawn = signal.aborted;
      throw error;
    } finally {
      stop?.();
    }
  }

  /** Null at a terminal that is still there. */
  private wayBack(): null {
    this.print('');
    if (this.input.readable && 'isTTY' in this.input && this.input.isTTY) return null;
    throw new TerminalGone();
  }

  /** All of a long text in the person's pager; without one it is printed. */
  async showAll(lines: readonly string[], signal: AbortSignal): Promise<void> {
    const text = `${lines.join('\n')}\n`;
    const hasPager = this.isTerminal && (await this.leaveTo(() => showInPager(text, this.env, signal)));
    if (!hasPager) this.print(text.trimEnd());
  }

  /** Leaves the terminal to another program; what is said meanwhile is printed when it is back. */
  async leaveTo<T>(program: () => Promise<T>): Promise<T> {
    this.held = [];
    try {
      return await program();
    } finally {
      const said = this.held;
      this.held = null;
      for (const print of said) print();
    }
  }

  /** A null answer for an end of input. The reader lives for one question. */
  private async answer(
    text: string,
    signal: AbortSignal,
  ): Promise<{ answer: string | null; isPasted: boolean }> {
    const reader = createInterface({ input: this.input, output: this.output });
    this.reader = reader;
    let isPasted = false;
    const look = (chunk: Buffer | string) => (isPasted ||= SEVERAL_LINES.test(String(chunk)));
    this.input.on('data', look);
    reader.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    const ended = new Promise<null>((resolve) => reader.once('close', () => resolve(null)));
    let answer: string | null = null;
    try {
      answer = await Promise.race([reader.question(text, { signal }), ended]);
    } catch {
      // Withdrawn; and later versions of Node reject a question at the end of the input instead of leaving it open.
    } finally {
      this.input.off('data', look);
      this.reader = null;
      reader.close();
    }
    if (answer !== null && (await dropTyped(this.input, PASTE_MS, signal))) isPasted = true;
    signal.throwIfAborted();
    return { answer, isPasted };
  }

  /** Takes the question off the screen; the rows that it had beyond its first. */
  private leaveQuestion(reader: Interface): number {
    // Without a cursor that moves the question is asked once more, below.
    if (!this.isTerminal || this.env.TERM === 'dumb') {
      this.output.write('\n');
      return 0;
    }
    const { rows } = reader.getCursorPos();
    moveCursor(this.output, 0, -rows);
    cursorTo(this.output, 0);
    clearScreenDown(this.output);
    return rows;
  }

  private whenResized(onResize: () => void): () => void {
    let timer: NodeJS.Timeout | undefined;
    const resized = () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.interject(onResize), RESIZED_MS);
    };
    this.output.on('resize', resized);
    return () => {
      clearTimeout(timer);
      this.output.off('resize', resized);
    };
  }

  paint(colour: Parameters<typeof styleText>[0], text: string): string {
    return styleText(colour, text, { stream: this.output });
  }
}
