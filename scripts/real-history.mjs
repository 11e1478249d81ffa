/**
 * Holds the line-patch engine against real history: every text file that a commit modified becomes a file patch,
 * which is parsed, applied and inverted; the result must have the sha256 of the file in the commit, and the
 * inverse that of its parent.
 *
 *   npx tsc -b packages/protocol && node scripts/real-history.mjs [repository] [most commits]
 *
 * Files that line changes cannot say (binary, another byte order mark) are listed with the reason. Exit code 1
 * on any mismatch, 2 if there was nothing to hold it against.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  applyFilePatch,
  diffToChanges,
  invertFilePatch,
  parsePatchBatch,
} from '@patchbay/protocol/line-patch';

const [repository = '.', most = '100000'] = process.argv.slice(2);
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

function git(...args) {
  const { status, stdout, stderr } = spawnSync('git', ['-C', repository, ...args], { maxBuffer: 2 ** 30 });
  if (status !== 0) throw new Error(`git ${args[0]}: ${stderr}`);
  return stdout.toString();
}

/** Answers the content of blobs, one after the other, from a single git process. */
class Blobs {
  #git = spawn('git', ['-C', repository, 'cat-file', '--batch'], { stdio: ['pipe', 'pipe', 'inherit'] });
  #chunks = this.#git.stdout[Symbol.asyncIterator]();
  #rest = Buffer.alloc(0);

  async read(id) {
    this.#git.stdin.write(`${id}\n`);
    while (!this.#rest.includes(10)) await this.#more();
    const headerEnd = this.#rest.indexOf(10);
    const size = Number(this.#rest.toString('utf8', 0, headerEnd).split(' ')[2]);
    const parts = [this.#rest.subarray(headerEnd + 1)];
    for (let have = parts[0].length; have < size + 1; have += parts.at(-1).length)
      parts.push(await this.#next());
    const all = Buffer.concat(parts);
    this.#rest = all.subarray(size + 1);
    return all.subarray(0, size);
  }

  close() {
    this.#git.stdin.end();
  }

  async #next() {
    const { value, done } = await this.#chunks.next();
    if (done) throw new Error('git cat-file ended early');
    return value;
  }

  async #more() {
    this.#rest = Buffer.concat([this.#rest, await this.#next()]);
  }
}

/** Modified regular files of each commit against its first parent. */
function* modifications() {
  const log = git(
    'log',
    `-n${most}`,
    '-m',
    '--raw',
    '-z',
    '--no-abbrev',
    '--no-renames',
    '--diff-filter=M',
    '--format=%H',
  );
  const words = log.split('\0');
  for (let at = 0, commit = ''; at < words.length; at += 1) {
    const word = words[at].replace(/^\n/, '');
    if (/^[0-9a-f]{40,64}$/.test(word)) commit = word;
    const raw = /^:(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) M$/.exec(word);
    if (raw === null) continue;
    const [, oldMode, newMode, before, after] = raw;
    const path = words[(at += 1)];
    // Links and submodules are no text files, and a change of mode alone changes no line.
    if (oldMode.startsWith('100') && newMode.startsWith('100') && before !== after)
      yield { commit, path, before, after };
  }
}

/** null if the engine makes `after` of `before` and comes back; else what went wrong or why it cannot. */
function check(before, after) {
  const diff = diffToChanges(before, after);
  if (!diff.ok) return { skipped: diff.reason };
  const patch = { docPath: 'file', originalSha256: sha256(before), changes: diff.changes };
  const exact = diff.changes.some((change) => change.newEndings !== undefined);
  const trusted = exact || !parsePatchBatch({ files: [patch] }).ok;
  const parsed = parsePatchBatch({ files: [patch] }, { trusted });
  if (!parsed.ok) return { mismatch: JSON.stringify(parsed.faults[0]) };
  const [file] = parsed.batch.files;
  const applied = applyFilePatch(before, file);
  if (!applied.ok) return { mismatch: JSON.stringify(applied.faults[0]) };
  if (sha256(applied.bytes) !== sha256(after)) return { mismatch: 'the result has another sha256' };
  const inverse = invertFilePatch(before, file, sha256(after));
  const back = inverse.ok && applyFilePatch(after, inverse.patch);
  if (!back || !back.ok || sha256(back.bytes) !== sha256(before))
    return { mismatch: 'the inverse does not lead back' };
  return { trusted, changes: file.changes.length };
}

const blobs = new Blobs();
const commits = new Set();
const sum = { files: 0, changes: 0, exact: 0, skipped: 0, mismatches: 0 };
for (const { commit, path, before, after } of modifications()) {
  const outcome = check(await blobs.read(before), await blobs.read(after));
  commits.add(commit);
  sum.files += 1;
  if (outcome.skipped !== undefined) {
    sum.skipped += 1;
    console.log(`skipped  ${commit.slice(0, 12)} ${path}: ${outcome.skipped}`);
  } else if (outcome.mismatch !== undefined) {
    sum.mismatches += 1;
    console.log(`MISMATCH ${commit.slice(0, 12)} ${path}: ${outcome.mismatch}`);
  } else {
    sum.changes += outcome.changes;
    if (outcome.trusted) sum.exact += 1;
  }
}
blobs.close();
const equal = sum.files - sum.skipped - sum.mismatches;
console.log(
  `real-history: ${equal} of ${sum.files - sum.skipped} text files equal (sha256, there and back) in ${commits.size} commits, ` +
    `${sum.changes} changes; ${sum.exact} needed newEndings or a lone CR, ${sum.skipped} skipped, ${sum.mismatches} mismatches`,
);
process.exitCode = sum.mismatches > 0 ? 1 : equal === 0 ? 2 : 0;
