// Packs what we publish into a folder, from a fresh build:  npm run build && node scripts/pack-packages.mjs [folder]
//
// tsc leaves behind what it made of sources that are gone; none of that is to be packed.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath, URL } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PACKAGES = ['protocol', 'client', 'workspace', 'cli'];
const MADE = /(\.d\.ts|\.js|\.js\.map)$/;

/** Removes from `dist` what no source of the package makes any more. */
function removeStale(folder) {
  const dist = join(folder, 'dist');
  for (const entry of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (!MADE.test(entry) || /^commonjs[\\/]/.test(entry)) continue;
    if (!existsSync(join(folder, 'src', entry.replace(MADE, '.ts')))) rmSync(join(dist, entry));
  }
}

const target = resolve(process.argv[2] ?? 'packed');
mkdirSync(target, { recursive: true });
for (const name of PACKAGES) removeStale(join(ROOT, 'packages', name));
await import('./declare-for-commonjs.mjs');
const workspaces = PACKAGES.flatMap((name) => ['--workspace', `packages/${name}`]);
const args = ['pack', '--silent', '--ignore-scripts', '--json', '--pack-destination', target, ...workspaces];
process.stdout.write(
  execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }),
);
