import {
  type DeleteChange,
  type Ending,
  type FilePatch,
  type InsertChange,
  type ReplaceChange,
} from '../patch-batch.js';
import { decode } from './bytes.js';
import { type FaultList, placeOf } from './faults.js';
import { inFileOrder, type PlacedChange } from './layout.js';
import { LineCursor } from './line-cursor.js';
import { MismatchReporter } from './mismatch.js';
import { PieceList } from './piece-list.js';
import { bomLength, LF, notTextReason } from './text.js';

/** The effect of one change: the place of its lines in the result, and what it removed. */
export interface PlannedChange extends PlacedChange {
  /** Lines of the result above this change's lines. */
  resultAfter: number;
  /** Number of this change's lines in the result. */
  resultCount: number;
  /** Endings of the removed lines. */
  endings: Ending[];
  /** The original last line if it had no ending and got one because of this change. */
  extendsLine?: string | undefined;
}

/** The result of a file patch as pieces, and its changes in file order. */
export interface Plan {
  pieces: PieceList;
  changes: PlannedChange[];
}

/**
 * Checks a parsed file patch against the authoritative bytes and lays out the result, in one pass over both. Faults
 * go to `faults`; the plan is valid only without faults.
 */
export function planFilePatch(
  original: Uint8Array,
  patch: FilePatch,
  fileIndex: number,
  faults: FaultList,
): Plan {
  const reason = notTextReason(original);
  if (reason !== null) {
    const mend = 'Only UTF-8 text can be patched; do not patch this file.';
    faults.add(placeOf(fileIndex, patch), 'NOT_TEXT', () => `The file is not text: ${reason}. ${mend}`);
    return { pieces: new PieceList(original), changes: [] };
  }
  return new Planner(original, patch, fileIndex, faults).run();
}

class Planner {
  private readonly cursor: LineCursor;
  private readonly pieces: PieceList;
  private readonly mismatches: MismatchReporter;
  private readonly start: number;
  /** Lines added minus lines removed so far. */
  private shift = 0;
  private readonly near = (): Ending => this.cursor.nearEnding();

  constructor(
    private readonly original: Uint8Array,
    private readonly patch: FilePatch,
    private readonly fileIndex: number,
    private readonly faults: FaultList,
  ) {
    this.start = bomLength(original);
    this.cursor = new LineCursor(original, this.start);
    this.pieces = new PieceList(original);
    this.mismatches = new MismatchReporter(original);
  }

  run(): Plan {
    const placed = this.patch.changes.map((change, changeIndex) => ({ change, changeIndex }));
    const changes: PlannedChange[] = [];
    for (const each of inFileOrder(placed)) {
      const planned =
        each.change.operation === 'insert' ? this.insert(each, each.change) : this.range(each, each.change);
      if (planned === null) continue;
      this.shift += planned.resultCount - planned.endings.length;
      changes.push(planned);
    }
    this.finish(changes);
    return { pieces: this.pieces, changes };
  }

  private insert(placed: PlacedChange, change: InsertChange): PlannedChange | null {
    const { cursor } = this;
    if (!cursor.seek(change.afterLine)) return this.beyondEnd(placed, change.afterLine);
    const extendsLine = this.pieces.keepTo(cursor.offset, this.near) ? this.lastLine() : undefined;
    const resultAfter = cursor.line + this.shift;
    this.addLines(change, () => cursor.nearEnding());
    const { changeIndex } = placed;
    return {
      changeIndex,
      change,
      resultAfter,
      resultCount: change.newLines.length,
      endings: [],
      extendsLine,
    };
  }

  private range(placed: PlacedChange, sent: ReplaceChange | DeleteChange): PlannedChange | null {
    const { cursor } = this;
    if (!cursor.seek(sent.startLine - 1)) return this.beyondEnd(placed, sent.endLine);
    const from = cursor.offset;
    const read = this.readRange(placed, sent);
    if (read === null) return null;
    const { endings, change } = read;
    this.pieces.keepTo(from, this.near);
    this.pieces.dropTo(cursor.offset);
    const resultAfter = change.startLine - 1 + this.shift;
    const { changeIndex } = placed;
    if (change.operation === 'delete') return { changeIndex, change, resultAfter, resultCount: 0, endings };
    this.addLines(change, (index) => endings[index] || cursor.nearEnding());
    return { changeIndex, change, resultAfter, resultCount: change.newLines.length, endings };
  }

  private addLines(change: InsertChange | ReplaceChange, byRule: (index: number) => Ending): void {
    const exact = change.newEndings;
    if (exact === undefined) this.pieces.add(change.newLines, byRule, false, this.near);
    else this.pieces.add(change.newLines, (index) => exact[index] as Ending, true, this.near);
  }

  /**
   * Passes the range line by line; returns the endings of its lines, and the change with their texts, or null after a
   * fault.
   */
  private readRange<C extends ReplaceChange | DeleteChange>(
    placed: PlacedChange,
    change: C,
  ): { endings: Ending[]; change: C } | null {
    const { cursor, original } = this;
    const endings: Ending[] = [];
    const from = cursor.offset;
    let firstWrong = -1;
    /** Texts of the file, if an expected line was given as it was read. */
    let texts: string[] | null = null;
    for (let line = change.startLine; line <= change.endLine; line += 1) {
      const lineStart = cursor.offset;
      if (!cursor.seek(line)) return this.beyondEnd(placed, change.endLine);
      const ending = cursor.passedEnding();
      endings.push(ending);
      const index = line - change.startLine;
      const text = decode(original, lineStart, cursor.offset - ending.length);
      const expected = change.expectedOriginalLines[index];
      if (firstWrong >= 0 || text === expected) continue;
      if (!isSameLine(expected, text, ending)) firstWrong = index;
      else (texts ??= [...change.expectedOriginalLines])[index] = text;
    }
    if (firstWrong < 0) {
      return { endings, change: texts === null ? change : { ...change, expectedOriginalLines: texts } };
    }
    const report = this.mismatches.mismatch(change, from, cursor.offset, firstWrong);
    this.faults.add(() => this.placeOf(placed), 'LINES_MISMATCH', report.message, report.details);
    return null;
  }

  private beyondEnd(placed: PlacedChange, line: number): null {
    // After a failed seek the cursor is at the end, and its line is the number of lines.
    const report = this.mismatches.beyondEnd(placed.change, line, this.cursor.line);
    this.faults.add(() => this.placeOf(placed), 'RANGE_BEYOND_END', report.message, report.details);
    return null;
  }

  private finish(changes: PlannedChange[]): void {
    const { original, pieces, start } = this;
    const end = original.length;
    const lastHadEnding = end === start || original[end - 1] === LF;
    if (this.faults.count > 0) return;
    pieces.keepTo(end, () => '\n');
    if (pieces.finish(lastHadEnding)) forgetLastLine(changes);
    if (start === 0 && bomLength(pieces.head()) > 0) this.reportNewBom();
    else if (pieces.isOriginal()) this.reportNoChange();
  }

  private reportNewBom(): void {
    const mend = 'Remove that character from the line as well, or keep the line from being the first.';
    this.faults.add(
      placeOf(this.fileIndex, this.patch),
      'NOT_TEXT',
      () =>
        `The new line 1 would start with U+FEFF, which at the top of a file is a byte order mark. ${mend}`,
    );
  }

  private reportNoChange(): void {
    this.faults.add(
      placeOf(this.fileIndex, this.patch),
      'NO_CHANGE',
      () =>
        'The changes leave the file as it is, byte for byte. Leave the file out, or send the lines you mean.',
    );
  }

  private lastLine(): string {
    const from = Math.max(this.original.lastIndexOf(LF) + 1, this.start);
    return decode(this.original, from);
  }

  private placeOf(placed: PlacedChange) {
    return placeOf(this.fileIndex, this.patch, placed.changeIndex, placed.change);
  }
}

/**
 * Whether an expected line equals this one, with or without a carriage return at its end that may belong to the text
 * or the ending [LINE-2].
 */
function isSameLine(expected: string | undefined, text: string, ending: Ending): boolean {
  if (expected === undefined) return false;
  return (ending === '\r\n' && expected === `${text}\r`) || (text.endsWith('\r') && text === `${expected}\r`);
}

/** The newest new line has no text and no ending, so it is not a line; only deletes can follow it. */
function forgetLastLine(changes: PlannedChange[]): void {
  const newest = changes.findLastIndex((planned) => planned.change.operation !== 'delete');
  changes.slice(newest).forEach((planned, index) => {
    if (index === 0) planned.resultCount -= 1;
    else planned.resultAfter -= 1;
  });
}
