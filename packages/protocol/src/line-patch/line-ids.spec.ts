import fc from 'fast-check';
import { lineIds } from './line-ids.js';

/** The line numbers of two texts in sequence, and the lines with their endings. */
function numbered(before: string, after: string): { ids: number[]; lines: string[] } {
  const ids = lineIds(Buffer.from(before), Buffer.from(after));
  const linesOf = (text: string) => (text === '' ? [] : text.split(/(?<=\n)(?!$)/));
  return { ids: [...ids.before, ...ids.after], lines: [...linesOf(before), ...linesOf(after)] };
}

describe('line numbers for a diff', () => {
  const text = fc
    .array(fc.tuple(fc.constantFrom('', 'a', 'b', '\r', 'é'), fc.constantFrom('\n', '\r\n')))
    .chain((lines) => fc.constantFrom(...['', 'a', '\r'].map((last) => lines.flat().join('') + last)));

  it('are equal for equal lines, including the ending, and count up from 0', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const { ids, lines } = numbered(before, after);
        const distinct = [...new Set(lines)];
        expect(ids).toEqual(lines.map((line) => distinct.indexOf(line)));
      }),
    );
  });

  it('never treat two lines as one, even with equal hashes on purpose', () => {
    const colliding = linesOfOneHash(4);
    const { ids, lines } = numbered(colliding.join(''), colliding.toReversed().join(''));
    const lineOf = new Map<number, string>();
    for (const [at, id] of ids.entries()) {
      expect(lineOf.get(id) ?? lines[at]).toBe(lines[at]);
      lineOf.set(id, lines[at]!);
    }
    // Some equal lines get several numbers, or the search would be unbounded.
    expect(lineOf.size).toBeGreaterThan(colliding.length);
  });

  it('never treat a last line as one with an ending, even with equal hashes', () => {
    expect(hashFrom(START, 'qdektkda')).toBe(hashFrom(START, 'qdektkdaf\n'));
    expect(numbered('qdektkdaf\n', 'qdektkda').ids).toEqual([0, 1]);
  });
});

const START = 0x811c9dc5 | 0;

/** FNV-1a of ASCII, from a given state. */
function hashFrom(state: number, text: string): number {
  let hash = state;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}

/** 2 ** `pairs` lines with the same hash: two parts that lead to the same state are interchangeable. */
function linesOfOneHash(pairs: number): string[] {
  let starts = [''];
  let state = START;
  for (let pair = 0; pair < pairs; pair += 1) {
    const { one, two, hash } = collision(state);
    starts = starts.flatMap((start) => [start + one, start + two]);
    state = hash;
  }
  return starts.map((start) => `${start}\n`);
}

function collision(state: number): { one: string; two: string; hash: number } {
  const seen = new Map<number, string>();
  for (let n = 0; ; n += 1) {
    const two = (Math.imul(n, 0x9e3779b1) >>> 0).toString(36);
    const hash = hashFrom(state, two);
    const one = seen.get(hash);
    if (one !== undefined) return { one, two, hash };
    seen.set(hash, two);
  }
}
