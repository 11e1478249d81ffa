/**
 * How long the line-patch engine takes, as ratios to hashing the same file, and beside `git apply` with the same
 * edits. One change per hundred lines of 40 bytes; medians.
 *
 *   npx tsc -b packages/protocol && node bench/line-patch.mjs [lines…]
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyFilePatch, parsePatchBatch, unifiedDiff } from '@patchbay/protocol/line-patch';

const sizes =
  process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1_000, 10_000, 100_000, 1_000_000];
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');
const GIT_LIMIT_MS = 60_000;
const lineOf = (n) => `line ${String(n).padStart(8, '0')} `.padEnd(39, 'abcdefghij');

/** Replaces, deletes and inserts in turn, each hundred lines apart. */
function changeAt(index) {
  const startLine = index * 100 + 50;
  const range = { startLine, endLine: startLine, expectedOriginalLines: [lineOf(startLine)] };
  const newLines = [`new ${index}`, `and one more ${index}`];
  if (index % 3 === 0) return { operation: 'replace', ...range, newLines };
  if (index % 3 === 1) return { operation: 'delete', ...range };
  return { operation: 'insert', afterLine: startLine, newLines };
}

/** Median in milliseconds of as many runs as fit into about a second, at least five. */
function median(run) {
  const times = [];
  const until = performance.now() + 1_000;
  for (let count = 0; count < 5 || (performance.now() < until && count < 500); count += 1) {
    const start = performance.now();
    run();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
}

/** Moves the rest of the file for every hunk, so it is stopped where it would take minutes. */
function gitApply(dir, original, diff) {
  const file = join(dir, 'file.txt');
  writeFileSync(join(dir, 'file.diff'), diff);
  const times = [];
  for (let count = 0; count < 3 && (times[0] ?? 0) < 5_000; count += 1) {
    writeFileSync(file, original);
    const start = performance.now();
    const { status, stderr } = spawnSync('git', ['apply', 'file.diff'], { cwd: dir, timeout: GIT_LIMIT_MS });
    times.push(performance.now() - start);
    if (status === null) return { ms: Infinity, bytes: null };
    if (status !== 0) throw new Error(String(stderr));
  }
  return { ms: times.sort((a, b) => a - b)[Math.floor(times.length / 2)], bytes: readFileSync(file) };
}

function measure(lineCount, dir) {
  const original = Buffer.from(Array.from({ length: lineCount }, (_, n) => `${lineOf(n + 1)}\n`).join(''));
  const changes = Array.from({ length: Math.floor(lineCount / 100) }, (_, index) => changeAt(index));
  const input = { files: [{ docPath: 'file.txt', originalSha256: sha256(original), changes }] };
  const patch = parsePatchBatch(input).batch.files[0];
  const { diff } = unifiedDiff(original, patch, 'file.txt');

  const hash = median(() => sha256(original));
  const apply = median(() => applyFilePatch(original, patch));
  const parseAndApply = median(() => applyFilePatch(original, parsePatchBatch(input).batch.files[0]));
  const git = gitApply(dir, original, diff);

  const results = [applyFilePatch(original, patch).bytes, git.bytes];
  const hashes = new Set(results.filter(Boolean).map(sha256));
  if (hashes.size !== 1) throw new Error('the results do not agree');
  return {
    lineCount,
    changes: changes.length,
    bytes: original.length,
    hash,
    apply,
    parseAndApply,
    git: git.ms,
  };
}

const cell = (ms, hash) =>
  ms === Infinity
    ? `stopped after ${GIT_LIMIT_MS} (> ${(GIT_LIMIT_MS / hash).toFixed(0)}x)`
    : `${ms.toFixed(2)} (${(ms / hash).toFixed(1)}x)`;

const dir = mkdtempSync(join(tmpdir(), 'patchbay-bench-'));
process.env.GIT_CEILING_DIRECTORIES = tmpdir();
try {
  console.log(
    'times in ms, in brackets as multiples of hashing the file (sha256); git apply includes its start',
  );
  for (const size of sizes) {
    const { lineCount, changes, bytes, hash, ...times } = measure(size, dir);
    const cells = Object.entries(times).map(([name, ms]) => `${name} ${cell(ms, hash)}`);
    const what = `${lineCount} lines, ${(bytes / 1e6).toFixed(2)} MB, ${changes} changes`;
    console.log(`${what}: hash ${hash.toFixed(2)} | ${cells.join(' | ')}`);
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
