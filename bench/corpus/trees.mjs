// Source trees of bench/corpus.mjs: pinned npm tarballs, fetched once, or without a network folders of this repository.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'patchbay-corpus');

/** sha256 of the tarball of each package. */
const PACKAGES = {
  'lodash@4.17.21': '6a087ac9e5702a0c9d60fbcd48696012646ec8df1491dea472b150e79fcaf804',
  'react-dom@18.3.1': '031d4427a99f2f3f6cac18bbbf308594a67e4f47d10f4896fdec446505b040e0',
  'rxjs@7.8.2': '2312f8ffd9726ffd7bd53ea12c5f13663d09a3dc3326f448c70b88f5ef6fac82',
  'core-js@3.38.1': '224b8d2f0eb0dba25973ac6949f348da77cc5f6ca2fd058064f27acbf04264e0',
  'express@4.18.0': 'ba1d2684bdc64b1d19c464115ef9411742ba404a146d76feb0626df1830321c1',
};
/** Ten releases after express@4.18.0, in their order. */
const RELEASES = {
  'express@4.18.1': '8fc3ea14bf5b8670d828ed0b00ccbb00a57f7a8bacef507b4676be8bd8cfaa61',
  'express@4.18.2': '8a4a69997fb326bd5966256709dbce2acff6cd53e048fc017c28b8c85f91c37e',
  'express@4.18.3': '4aa741333cd5d05fbba8b03b51721d792fb147398aa8d699501d8136eb192bb8',
  'express@4.19.0': '1a7d932b747071d2f78f934860cdfeee96bac48a684f27d4e0e780b2f4ea9f0a',
  'express@4.19.1': 'c1566029fd076e63c2be14c82a4735e9baa4c8200a0d48e64bc5c19d6cfccb1b',
  'express@4.19.2': '1b18c90e7e9fc4cb3e4dfe6b5f11c21b85509162e88ca5c6b63b9c6b5ca085bf',
  'express@4.20.0': '5ed0501d532785bdfd589c5e21b6324dfa6d4b2d181160aae583371119d808f0',
  'express@4.21.0': 'b286ac08db99b23b0df74a453aff20839e8ab657650849c76ee04ddfb73e8fe0',
  'express@4.21.1': '4097da0999b7078263460df02b0990244794d84e79e185e6d4ff50ce06d79462',
  'express@4.21.2': 'fc43a91e7dc7affb53c6ad7123a4f35485ed3c45226ae7a3847b7738e783e008',
};
const OWN = ['bench', 'docs', 'examples', 'scripts', 'packages/protocol/src'];
const OWN_RELEASES = 3;

/** Files of a folder by relative path: their bytes, and whether they are executable. */
export function treeOf(directory) {
  const tree = new Map();
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const isExecutable = (statSync(file).mode & 0o100) !== 0;
    tree.set(relative(directory, file), { bytes: readFileSync(file), isExecutable });
  }
  return tree;
}

/** Paths of what is not the same in two trees. */
export function differences(one, other) {
  const paths = new Set([...one.keys(), ...other.keys()]);
  return [...paths].filter((path) => {
    const [a, b] = [one.get(path), other.get(path)];
    return !a || !b || a.isExecutable !== b.isExecutable || !a.bytes.equals(b.bytes);
  });
}

/** @returns {{trees: Map<string, Map>, first: string, releases: Map<string, Map>}} */
export function corpus() {
  if (process.env.CORPUS === 'own') return ownCorpus();
  const trees = new Map(Object.entries(PACKAGES).map(([name, sha256]) => [name, packageTree(name, sha256)]));
  const releases = new Map(
    Object.entries(RELEASES).map(([name, sha256]) => [name, packageTree(name, sha256)]),
  );
  return { trees, first: 'express@4.18.0', releases };
}

function packageTree(name, sha256) {
  const tarball = join(CACHE, `${name.replace('@', '-')}.tgz`);
  mkdirSync(CACHE, { recursive: true });
  if (!existsSync(tarball)) execFileSync('npm', ['pack', '--silent', name], { cwd: CACHE, stdio: 'pipe' });
  const found = createHash('sha256').update(readFileSync(tarball)).digest('hex');
  if (found !== sha256)
    throw new Error(`${tarball} is not the pinned one: its sha256 is ${found}. Delete it.`);
  const directory = mkdtempSync(join(tmpdir(), 'patchbay-corpus-'));
  try {
    execFileSync('tar', ['-xzf', tarball, '-C', directory, '--strip-components=1']);
    return treeOf(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Releases are made: each changes lines of every third file, adds a file and removes one. */
function ownCorpus() {
  // What `npm run bench:peers` has installed is no source.
  const isOwn = ([path]) => !path.split('/').includes('node_modules');
  const trees = new Map(OWN.map((path) => [path, new Map([...treeOf(join(ROOT, path))].filter(isOwn))]));
  const releases = new Map();
  const first = OWN.at(-1);
  let last = trees.get(first);
  for (let n = 1; n <= OWN_RELEASES; n += 1) releases.set(`${first} ${n}`, (last = nextOf(last, n)));
  return { trees, first, releases };
}

function nextOf(tree, n) {
  const entries = [...tree].map(([path, file], at) => {
    if ((at + n) % 3 !== 0) return [path, file];
    const lines = file.bytes.toString().split('\n');
    lines.splice(n, 2, `release ${n}`, '');
    return [path, { ...file, bytes: Buffer.from(lines.join('\n')) }];
  });
  const added = [`added/in-${n}.txt`, { bytes: Buffer.from(`${n}\n`), isExecutable: n % 2 === 0 }];
  return new Map([...entries.slice(1), added]);
}

/** Writes files into a folder. */
export function write(directory, tree) {
  for (const [path, { bytes, isExecutable }] of tree) {
    const file = join(directory, path);
    mkdirSync(dirname(file), { recursive: true });
    rmSync(file, { force: true });
    writeFileSync(file, bytes, { mode: isExecutable ? 0o755 : 0o644 });
  }
}
