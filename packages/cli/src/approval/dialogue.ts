import { createInterface, type Interface } from 'node:readline/promises';
import { clearScreenDown, cursorTo, moveCursor } from 'node:readline';
import { styleText } from 'node:util';
import { sizeOf, wrapFor } from './fit.js';
import { showInPager } from './pager.js';
import { type Marks, marksFor } from './marks.js';
import { isolateRtl } from './printable.js';
import type { Layout } from './question-text.js';
import { dropTyped } from './typed-ahead.js';

/** The person can no longer be asked. */
export class TerminalGone extends Error {}

/** No key may be pressed for this long, in ms, before a question counts as asked, and after a withdrawn question. */
const QUIET_MS = 50;
const WITHDRAWN_MS = 500;
/** Input that follows a line within this time, in ms, was pasted rather than typed. */
const PASTE_MS = 20;
const PASTED = 'Several lines were pasted; none of them counts as an answer.';
/** A line followed by more input. */
const SEVERAL_LINES = /[\r\n][^]*[^\r\n]/;

/** Wait, in ms, for the end of a resize before the screen is laid out again. */
const RESIZED_MS = 100;

export interface DialogueOptions {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  env: NodeJS.ProcessEnv;
}

/** A terminal that asks one question at a time, between lines of other output. */
export class Dialogue {
  readonly output: NodeJS.WritableStream;
  readonly marks: Marks;
  private readonly input: NodeJS.ReadableStream;
  private readonly env: NodeJS.ProcessEnv;
  private reader: Interface | null = null;
  private question: () => string = () => '';
  /** Output that waits while another program has the terminal. */
  private held: (() => void)[] | null = null;
  private isClosed = false;
  private wasWithdrawn = false;

  constructor({ input, output, env }: DialogueOptions) {
    [this.input, this.output, this.env] = [input, output, env];
    this.marks = marksFor(output, env);
  }

  /** The current layout parameters. */
  get layout(): Layout {
    return { size: sizeOf(this.output), marks: this.marks, stream: this.output };
  }

  get isTerminal(): boolean {
    return 'isTTY' in this.output && this.output.isTTY === true;
  }

  print(text: string): void {
    if (!this.isClosed) this.output.write(`${isolateRtl(text, this.output)}\n`);
  }

  /** Prints text without breaking words at the edge of the window. */
  say(text: string): void {
    this.print(wrapFor(this.output, text));
  }

  /** Prints other output without breaking the open question. */
  interject(print: () => void): void {
    if (this.held) return void this.held.push(print);
    const { reader, question } = this;
    if (!reader) return print();
    const rows = this.leaveQuestion(reader);
    print();
    reader.setPrompt(question());
    // The reader moves back up over the rows of its question.
    this.output.write('\n'.repeat(rows));
    reader.prompt(true);
  }

  /** Stops asking and printing; an open question stays as it is. */
  close(): void {
    if (this.isClosed) return;
    if (this.reader) this.output.write('\n');
    this.isClosed = true;
    this.reader?.close();
  }

  /**
   * The person's answer; null for Ctrl-D, which goes back. Input typed before the question is visible is dropped, and
   * so is a paste of several lines. `onResize` is called when the size of the window changes, and `question` returns
   * the text for that size.
   * @throws TerminalGone when the input has ended
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
        else return this.goBack();
      }
    } catch (error) {
      this.wasWithdrawn = signal.aborted;
      throw error;
    } finally {
      stop?.();
    }
  }

  /** Null while the terminal is still there. */
  private goBack(): null {
    this.print('');
    if (this.input.readable && 'isTTY' in this.input && this.input.isTTY) return null;
    throw new TerminalGone();
  }

  /** Shows a long text in the person's pager, or prints it if there is none. */
  async showAll(lines: readonly string[], signal: AbortSignal): Promise<void> {
    const text = `${lines.join('\n')}\n`;
    const hasPager = this.isTerminal && (await this.leaveTo(() => showInPager(text, this.env, signal)));
    if (!hasPager) this.print(text.trimEnd());
  }

  /** Hands the terminal to another program; output waits until it is back. */
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

  /** Null when the input ends. The reader is used for one question. */
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
      // On withdrawal. Newer Node versions reject a question at the end of the input, older ones leave it open.
    } finally {
      this.input.off('data', look);
      this.reader = null;
      reader.close();
    }
    if (answer !== null && (await dropTyped(this.input, PASTE_MS, signal))) isPasted = true;
    signal.throwIfAborted();
    return { answer, isPasted };
  }

  /** Removes the question from the screen; returns the rows that it had beyond its first. */
  private leaveQuestion(reader: Interface): number {
    // If the cursor cannot be moved, the question is repeated below.
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
