import { unifiedDiffBetween } from '@patchbay/protocol/line-patch';

/** A range of characters; the end is exclusive. */
export type Range = readonly [from: number, to: number];

/** A difference between two lines, with its surroundings. */
export interface Difference {
  old: Range;
  fresh: Range;
}

/** Characters of context on each side of a difference. */
const CONTEXT_CHARS = 40;
/** Longest piece of a difference that is shown at once; longer ones are split into pages. */
const PAGE = 400;
/** Longer texts, both sides together, are one difference: comparing their words would take seconds. */
const MAX_COMPARED_CHARS = 200_000;
/** A word, blanks, or any other character. */
const TOKEN = /[\p{L}\p{N}_]{1,32}|\s+|[^]/gu;

/** The differences between two lines, in order. Every character that only one of them has is in one. */
export function differencesOf(old: string, fresh: string): Difference[] {
  const top = equalTop(old, fresh);
  const end = equalEnd(old, fresh, top);
  const [a, b] = [old.slice(top, old.length - end), fresh.slice(top, fresh.length - end)];
  const apart = a.length + b.length > MAX_COMPARED_CHARS ? [whole(a, b)] : differencesOfWords(a, b);
  const moved = apart.map(({ old: [aFrom, aTo], fresh: [bFrom, bTo] }): Difference => ({
    old: [aFrom + top, aTo + top],
    fresh: [bFrom + top, bTo + top],
  }));
  return surrounded(moved, old, fresh).flatMap((difference) => inPages(difference, old, fresh));
}

function whole(a: string, b: string): Difference {
  return { old: [0, a.length], fresh: [0, b.length] };
}

/** Compares words as if each were a line. */
function differencesOfWords(a: string, b: string): Difference[] {
  const [old, fresh] = [wordsOf(a), wordsOf(b)];
  const diff = unifiedDiffBetween(old.lines, fresh.lines, '');
  const found: Difference[] = [];
  for (const [, from, many = '1', to, count = '1'] of diff.matchAll(HUNK)) {
    found.push({ old: old.range(Number(from), Number(many)), fresh: fresh.range(Number(to), Number(count)) });
  }
  return found;
}

/** Header of a hunk; for an empty range it names the line before. */
const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@$/gm;

function wordsOf(text: string): { lines: Buffer; range: (line: number, count: number) => Range } {
  const words = text.match(TOKEN) ?? [];
  const starts = [0];
  for (const word of words) starts.push(starts.at(-1)! + word.length);
  return {
    lines: Buffer.from(words.map((word) => `${word}\n`).join('')),
    range: (line, count) => {
      const first = count === 0 ? line : line - 1;
      return [starts[first]!, starts[first + count]!];
    },
  };
}

/** Adds the context to each difference and merges overlapping ones. */
function surrounded(differences: readonly Difference[], old: string, fresh: string): Difference[] {
  const joined: { old: [number, number]; fresh: [number, number] }[] = [];
  for (const { old: a, fresh: b } of differences) {
    const last = joined.at(-1);
    if (last && a[0] - last.old[1] <= 2 * CONTEXT_CHARS) {
      [last.old[1], last.fresh[1]] = [a[1], b[1]];
    } else joined.push({ old: [...a], fresh: [...b] });
  }
  return joined.map(({ old: a, fresh: b }) => {
    const before = Math.min(CONTEXT_CHARS, a[0], b[0]);
    const after = Math.min(CONTEXT_CHARS, old.length - a[1], fresh.length - b[1]);
    return {
      old: [whereCut(old, a[0] - before), whereCut(old, a[1] + after)],
      fresh: [whereCut(fresh, b[0] - before), whereCut(fresh, b[1] + after)],
    };
  });
}

function inPages({ old, fresh }: Difference, oldLine: string, freshLine: string): Difference[] {
  const length = Math.max(old[1] - old[0], fresh[1] - fresh[0]);
  const page = (line: string, [from, to]: Range, at: number): Range => [
    whereCut(line, Math.min(to, from + at * PAGE)),
    whereCut(line, Math.min(to, from + (at + 1) * PAGE)),
  ];
  return Array.from({ length: Math.ceil(length / PAGE) }, (_, at) => ({
    old: page(oldLine, old, at),
    fresh: page(freshLine, fresh, at),
  }));
}

function equalTop(a: string, b: string): number {
  let at = 0;
  while (at < a.length && at < b.length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  return whereCut(a, at);
}

function equalEnd(a: string, b: string, top: number): number {
  const most = Math.min(a.length, b.length) - top;
  let many = 0;
  while (many < most && a.charCodeAt(a.length - 1 - many) === b.charCodeAt(b.length - 1 - many)) many += 1;
  // Do not cut a surrogate pair.
  return /[\udc00-\udfff]/.test(a.charAt(a.length - many)) && many > 0 ? many - 1 : many;
}

/** The same offset, or one less inside a surrogate pair. */
export function whereCut(text: string, at: number): number {
  const isInside = at > 0 && at < text.length && /[\udc00-\udfff]/.test(text.charAt(at));
  return isInside ? at - 1 : at;
}
