// Builds all of it: node scripts/build.mjs [--if-changed]
//
// `--if-changed` builds nothing where the last build had these very sources.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, URL } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const at = (...path) => join(ROOT, ...path);
const STEPS = [
  ['the packages', at('node_modules/typescript/bin/tsc'), '-b', 'packages/cli'],
  ['types for CommonJS', at('scripts/declare-for-commonjs.mjs')],
  ['the command line', at('scripts/bundle-cli.mjs')],
  ['the server', at('scripts/compile-server.mjs')],
  ['the server in a few files', at('scripts/bundle-server.mjs')],
];
/** Made by the first and by the last step; the stamp says of which sources. */
const MADE = ['packages/protocol/dist/index.js', 'packages/cli/dist/patchbay.cjs', 'dist/main.js'].map(
  (path) => at(path),
);
const STAMP = at('dist/.built-from');
const INPUTS = [
  'src',
  'packages',
  'scripts',
  'package.json',
  'package-lock.json',
  'tsconfig.base.json',
  'tsconfig.build.json',
];

/** Every file that a build reads, in order. */
function* sources(path) {
  const entries = readdirSync(at(path), { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const below = `${path}/${entry.name}`;
    if (entry.isFile()) yield below;
    else if (entry.isDirectory() && !['dist', 'node_modules'].includes(entry.name)) yield* sources(below);
  }
}

function digestOfSources() {
  const digest = createHash('sha256').update(process.platform);
  for (const input of INPUTS)
    for (const path of input.includes('.') ? [input] : sources(input))
      digest.update(`${path}\0`).update(
        createHash('sha256')
          .update(readFileSync(at(path)))
          .digest(),
      );
  return digest.digest('hex');
}

/** Without them the compiler would only say that some module is missing. */
function missingPackages() {
  const { devDependencies } = JSON.parse(readFileSync(at('package.json'), 'utf8'));
  return Object.keys(devDependencies).filter((name) => !existsSync(at('node_modules', name)));
}

function refuse(missing) {
  const [first, ...others] = missing;
  process.stderr.write(
    `patchbay: the build needs the development packages, and ${first}${others.length > 0 ? ` and ${others.length} more are` : ' is'} missing: ` +
      'NODE_ENV=production and --omit=dev leave them out.\n' +
      'Run  npm ci --include=dev  first. For a server without them run  npm ci --omit=dev --ignore-scripts  after that build.\n',
  );
  process.exit(1);
}

const digest = digestOfSources();
const isBuilt =
  MADE.every((path) => existsSync(path)) && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === digest;
if (process.argv.includes('--if-changed') && isBuilt) process.exit(0);
const missing = missingPackages();
if (missing.length > 0) refuse(missing);
for (const [index, [name, script, ...args]] of STEPS.entries()) {
  process.stdout.write(`building ${index + 1} of ${STEPS.length}: ${name}\n`);
  const { status } = spawnSync(process.execPath, [script, ...args], { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
writeFileSync(STAMP, digest);
