/**
 * How long a unified diff of two texts takes, as ratios to a floor: splitting both texts at their line feeds and
 * numbering the lines by a Map. Medians.
 *
 *   npm run build && node bench/diff.mjs [words of the cases…]
 */
import { unifiedDiffBetween } from '@patchbay/protocol/line-patch';

/** Always the same numbers from 0 up to `below`. */
function numbers(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const lines = (count, lineOf) => Array.from({ length: count }, (_, n) => lineOf(n));
const code = (seed) => (n) => `  const ${seed}${n} = call(${seed}, ${n * 7});`.padEnd(39, '.');
/** A line of `kinds` that there are. */
const oneOf = (kinds, seed, text = (n) => `  line number ${n};`) => {
  const next = numbers(seed);
  return () => text(next(kinds));
};
const replaced = (text, every) =>
  text.map((line, n) => (n % every === every >> 1 ? `${line} // edited` : line));
/** Every `every`th line replaced by another one of the same text. */
const shuffled = (text, every) =>
  text.map((line, n) => (n % every === 0 ? text[(n * 7 + 1) % text.length] : line));
const swapped = (text) => [...text.slice(text.length / 2), ...text.slice(0, text.length / 2)];

const CASES = {
  'one edit in 10,000 lines': () => [lines(10_000, code('a')), (a) => replaced(a, 10_000)],
  'one edit in 100,000 lines, 4 MB': () => [lines(100_000, code('a')), (a) => replaced(a, 100_000)],
  'an edit each 10 of 100,000 lines, 4 MB': () => [lines(100_000, code('a')), (a) => replaced(a, 10)],
  'totally different 10,000 lines': () => [lines(10_000, code('a')), () => lines(10_000, code('b'))],
  'totally different 100,000 lines, 4 MB': () => [lines(100_000, code('a')), () => lines(100_000, code('b'))],
  'totally different 500,000 lines, 4 MB': () => [
    lines(500_000, (n) => `a${n}`.padEnd(7)),
    () => lines(500_000, (n) => `b${n}`.padEnd(7)),
  ],
  'halves swapped in 100,000 lines, 4 MB': () => [lines(100_000, code('a')), swapped],
  'repeated lines, 10,000 of 50 kinds, each 20 another': () => [
    lines(10_000, oneOf(50, 1)),
    (a) => shuffled(a, 20),
  ],
  'repeated lines, 10,000 of 50 kinds, at random': () => [
    lines(10_000, oneOf(50, 1)),
    () => lines(10_000, oneOf(50, 2)),
  ],
  'repeated lines, 200,000 of 50 kinds, each 20 another, 4 MB': () => [
    lines(200_000, oneOf(50, 1)),
    (a) => shuffled(a, 20),
  ],
  'repeated lines, 200,000 of 50 kinds, at random, 4 MB': () => [
    lines(200_000, oneOf(50, 1)),
    () => lines(200_000, oneOf(50, 2)),
  ],
  'repeated lines, 2,000,000 of 2 kinds, at random, 4 MB': () => [
    lines(
      2_000_000,
      oneOf(2, 1, (n) => `${n}`),
    ),
    () =>
      lines(
        2_000_000,
        oneOf(2, 2, (n) => `${n}`),
      ),
  ],
  'repeated lines, 2,000,000 in periods of 3 and 4, 4 MB': () => [
    lines(2_000_000, (n) => (n % 3 === 0 ? 'x' : 'y')),
    () => lines(2_000_000, (n) => (n % 4 === 0 ? 'x' : 'y')),
  ],
};

/** Median in milliseconds of as many runs as fit into about a second, at least one after a warm one. */
function median(run) {
  run();
  const times = [];
  const until = performance.now() + 1_000;
  do {
    const start = performance.now();
    run();
    times.push(performance.now() - start);
  } while (performance.now() < until && times.length < 200);
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
}

function floor(before, after) {
  const ids = new Map();
  for (const text of [before, after]) {
    for (const line of text.split('\n')) if (!ids.has(line)) ids.set(line, ids.size);
  }
  return ids.size;
}

const words = process.argv.slice(2);
console.log('times in ms, in brackets as multiples of splitting both texts and numbering their lines');
for (const [name, make] of Object.entries(CASES)) {
  if (!words.every((word) => name.includes(word))) continue;
  const [first, second] = make();
  const [before, after] = [first, second(first)].map((text) => `${text.join('\n')}\n`);
  const [old, fresh] = [Buffer.from(before), Buffer.from(after)];
  const least = median(() => floor(before, after));
  const diff = median(() => unifiedDiffBetween(old, fresh, 'x'));
  const changed = unifiedDiffBetween(old, fresh, 'x').match(/^[-+]/gm).length - 2;
  const times = `floor ${least.toFixed(1)} | diff ${diff.toFixed(1)} (${(diff / least).toFixed(1)}x)`;
  console.log(`${name}: ${times}, ${changed} lines go or come`);
}
