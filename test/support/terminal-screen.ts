/** Shown in two columns. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u;
const NO_WIDTH = /\p{M}/u;

/* An escape sequence: of a cursor or colour (CSI), of a title (OSC), or of two characters; and one that has not come whole. */
/* eslint-disable no-control-regex -- control characters are exactly what is looked for */
const ESCAPE =
  /\u001b(?:\[([?>]?[\d;]*)([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[()][A-Z0-9]|[^[\]()])/y;
const UNFINISHED = /\u001b(?:\[[?>]?[\d;]*|\][^\u0007]*|[()])?$/;
/* eslint-enable no-control-regex */

/**
 * What a person sees of a terminal's output: enough of a VT100 for readline, less and an editor. Lines that scrolled away
 * are kept; those of the alternate screen, which a pager has, go with it.
 */
export class TerminalScreen {
  private lines: string[][] = [[]];
  /** First line that is on the screen. */
  private top = 0;
  private row = 0;
  private column = 0;
  private rest = '';
  private main: { lines: string[][]; top: number; row: number; column: number } | null = null;

  constructor(
    private columns: number,
    private rows: number,
  ) {}

  /** Lines on the screen, without blanks at their end. */
  get shown(): string[] {
    return this.lines.slice(this.top).map(textOf);
  }

  /** The same, and what scrolled away before. */
  get all(): string[] {
    return this.lines.map(textOf);
  }

  resize(columns: number, rows: number): void {
    [this.columns, this.rows] = [columns, rows];
    this.scroll();
  }

  write(output: string): void {
    let text = this.rest + output;
    this.rest = UNFINISHED.exec(text)?.[0] ?? '';
    text = text.slice(0, text.length - this.rest.length);
    for (let at = 0; at < text.length;) {
      ESCAPE.lastIndex = at;
      const escape = ESCAPE.exec(text);
      if (escape) {
        at = ESCAPE.lastIndex;
        if (escape[2] !== undefined) this.control(escape[1]!, escape[2]);
        continue;
      }
      const char = String.fromCodePoint(text.codePointAt(at)!);
      at += char.length;
      this.put(char);
    }
  }

  private put(char: string): void {
    if (char === '\n') return this.down();
    if (char === '\r') return void (this.column = 0);
    if (char === '\b') return void (this.column = Math.max(0, this.column - 1));
    if (char === '\t') return void (this.column = Math.min(this.columns - 1, (this.column | 7) + 1));
    if (char < ' ') return;
    const line = this.line;
    if (NO_WIDTH.test(char)) return void (line[Math.max(0, this.column - 1)] += char);
    const width = WIDE.test(char) ? 2 : 1;
    if (this.column + width > this.columns) {
      this.column = 0;
      this.down();
    }
    const at = this.line;
    while (at.length < this.column) at.push(' ');
    at[this.column] = char;
    if (width === 2) at[this.column + 1] = '';
    this.column += width;
  }

  private get line(): string[] {
    while (this.lines.length <= this.row) this.lines.push([]);
    return this.lines[this.row]!;
  }

  private down(): void {
    this.row += 1;
    void this.line;
    this.scroll();
  }

  private scroll(): void {
    this.top = Math.max(this.top, this.lines.length - this.rows);
  }

  private control(parameters: string, command: string): void {
    const [first = 0, second = 0] = parameters.replace(/^[?>]/, '').split(';').map(Number);
    const by = Math.max(1, first);
    if (command === 'A') this.row = Math.max(this.top, this.row - by);
    else if (command === 'B') this.row = Math.min(this.top + this.rows - 1, this.row + by);
    else if (command === 'C') this.column = Math.min(this.columns - 1, this.column + by);
    else if (command === 'D') this.column = Math.max(0, this.column - by);
    else if (command === 'G') this.column = by - 1;
    else if (command === 'H') [this.row, this.column] = [this.top + by - 1, Math.max(1, second) - 1];
    else if (command === 'K') this.eraseLine(first);
    else if (command === 'J') this.eraseScreen(first);
    else if (parameters === '?1049') this.alternate(command === 'h');
    void this.line;
  }

  private eraseLine(what: number): void {
    if (what === 0) this.line.length = Math.min(this.line.length, this.column);
    else if (what === 2) this.line.length = 0;
    else this.line.fill(' ', 0, this.column + 1);
  }

  private eraseScreen(what: number): void {
    if (what === 0) {
      this.eraseLine(0);
      this.lines.length = this.row + 1;
    } else if (what >= 2) {
      for (const line of this.lines.slice(this.top)) line.length = 0;
    }
  }

  private alternate(on: boolean): void {
    const { lines, top, row, column } = this;
    if (on && !this.main) {
      this.main = { lines, top, row, column };
      Object.assign(this, { lines: [[]], top: 0, row: 0, column: 0 });
    } else if (!on && this.main) {
      Object.assign(this, this.main);
      this.main = null;
    }
  }
}

function textOf(line: readonly string[]): string {
  return line.join('').trimEnd();
}

/** Output without its escape sequences: what was said, wherever on the screen. */
export function withoutEscapes(output: string): string {
  return output.replaceAll(new RegExp(ESCAPE.source, 'g'), '').replaceAll('\r\n', '\n');
}
