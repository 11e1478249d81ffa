import { type Difference, differencesOf, whereCut } from './line-differences.js';
import { escapeOf, printable, printableLine } from './printable.js';

/** Longest line, in characters, that is shown completely beside a different one. */
const LONG_CHARS = 240;
/** Longest unchanged line, in characters, that is shown completely. */
const EQUAL_CHARS = 120;

/** A line of a diff: its sign, its text, and whether it ends the file without a line feed. */
interface DiffLine {
  text: string;
  isUnended: boolean;
}

/**
 * The lines of a unified diff, safe to print. Long unchanged lines are cut; differences never are: for two long lines
 * each difference is shown with its surroundings, below a position line that begins with `@`.
 * @param isWhole cuts nothing: both lines follow their differences completely
 */
export function shownDiff(lines: readonly string[], isWhole: boolean): string[] {
  const shown: string[] = [];
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  const flush = () => {
    // One by one: a large file has more lines than a call may have arguments.
    for (const line of blockLines(removed, added, isWhole)) shown.push(line);
    [removed, added] = [[], []];
  };
  for (const [at, line] of lines.entries()) {
    const ofBlock = line.startsWith('-') ? removed : line.startsWith('+') ? added : null;
    if (ofBlock) ofBlock.push({ text: line.slice(1), isUnended: lines[at + 1]?.startsWith('\\') ?? false });
    else if (line.startsWith('\\')) {
      // A line of a block already has this note.
      if (lines[at - 1]?.startsWith(' ')) shown.push(line);
    } else {
      flush();
      shown.push(isWhole ? printable(line) : cutEqual(line));
    }
  }
  flush();
  return shown;
}

/** Removed lines, and the lines that replace them. */
function blockLines(removed: readonly DiffLine[], added: readonly DiffLine[], isWhole: boolean): string[] {
  const alike = appearancesOfChanged(removed, added);
  const shown = ({ text, isUnended }: DiffLine, sign: '-' | '+') => {
    const pair = alike.get(appearanceOf(text));
    const safe = pair ? revealed(text, sign === '-' ? pair.fresh : pair.old) : printable(text);
    return [`${sign}${safe}`, ...(isUnended ? ['\\ No newline at end of file'] : [])];
  };
  const isLong = (at: number) =>
    Math.min(removed.length, added.length) > at &&
    Math.max(removed[at]!.text.length, added[at]!.text.length) > LONG_CHARS;
  if (!removed.some((_line, at) => isLong(at))) {
    return [...removed.flatMap((line) => shown(line, '-')), ...added.flatMap((line) => shown(line, '+'))];
  }
  const lines: string[] = [];
  for (let at = 0; at < Math.max(removed.length, added.length); at += 1) {
    const [old, fresh] = [removed[at], added[at]];
    const both = old && fresh && isLong(at) ? longPair(old, fresh) : null;
    if (both) lines.push(...both);
    if (both && !isWhole) continue;
    if (old) lines.push(...shown(old, '-'));
    if (fresh) lines.push(...shown(fresh, '+'));
  }
  return lines;
}

/** The differences of two long lines; null if they have so little in common that both are better shown completely. */
function longPair(old: DiffLine, fresh: DiffLine): string[] | null {
  const differences = differencesOf(old.text, fresh.text);
  const [only, ...others] = differences;
  const longest = Math.max(old.text.length, fresh.text.length);
  if (only && others.length === 0 && longest < 2 * LONG_CHARS && sizeOf(only) > longest * 0.8) return null;
  const lines = differences.flatMap(({ old: [aFrom, aTo], fresh: [bFrom, bTo] }) => {
    const [removed, added] = [old.text.slice(aFrom, aTo), fresh.text.slice(bFrom, bTo)];
    const isAlike = removed !== added && appearanceOf(removed) === appearanceOf(added);
    const safe = (text: string, other: string) => (isAlike ? revealed(text, other) : printable(text));
    return [
      `@ characters ${rangeOf(aFrom, aTo)} of ${count(old.text.length)}, now ${rangeOf(bFrom, bTo)} of ${count(fresh.text.length)}`,
      ...(removed === '' ? [] : [`-${safe(removed, added)}`]),
      ...(added === '' ? [] : [`+${safe(added, removed)}`]),
    ];
  });
  if (old.isUnended !== fresh.isUnended)
    lines.push(`@ ${fresh.isUnended ? 'no newline' : 'a newline'} at its end now`);
  return lines;
}

/** A line as it looks: equal for different spaces and different forms of a letter. */
function appearanceOf(text: string): string {
  return printable(text).normalize('NFC').replace(/\s/g, '');
}

/** Changed lines by their look, so that lines that only look the same can be told apart. */
function appearancesOfChanged(
  removed: readonly DiffLine[],
  added: readonly DiffLine[],
): Map<string, { old: string; fresh: string }> {
  const changed = new Map<string, { old: string; fresh: string }>();
  if (removed.length === 0 || added.length === 0) return changed;
  const before = new Map(removed.map(({ text }) => [appearanceOf(text), text]));
  for (const { text } of added) {
    const look = appearanceOf(text);
    const old = before.get(look);
    if (old !== undefined && old !== text) changed.set(look, { old, fresh: text });
  }
  return changed;
}

/** A line with the characters made visible in which it differs from one that looks the same. */
function revealed(text: string, other: string): string {
  const bare = (one: string) => one.replace(/\s/g, '');
  const isSpaceOnly = bare(text) === bare(other);
  const letters = isSpaceOnly ? text : text.replace(/[^\x20-\x7e\t\r]|\\/gu, escapeOf);
  return printableLine(letters).replace(/ +$/, (spaces) => escapeOf(' ').repeat(spaces.length));
}

/** An unchanged line, cut if it is long. */
function cutEqual(line: string): string {
  if (line.length <= LONG_CHARS) return printable(line);
  const end = whereCut(line, EQUAL_CHARS);
  const hidden = count(line.length - end);
  return `${printable(line.slice(0, end))} (and ${hidden} more characters that stay)`;
}

function sizeOf({ old, fresh }: Difference): number {
  return Math.max(old[1] - old[0], fresh[1] - fresh[0]);
}

function rangeOf(from: number, to: number): string {
  return from === to ? `after ${count(from)}` : `${count(from + 1)}-${count(to)}`;
}

function count(number: number): string {
  return number.toLocaleString('en');
}
