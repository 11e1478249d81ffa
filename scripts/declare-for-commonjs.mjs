// Puts the types of our packages beside them once more, as those of CommonJS modules: node scripts/declare-for-commonjs.mjs
//
// A `.d.ts` counts as a module of the kind that the next package.json names, and to TypeScript a CommonJS module cannot
// import an ES module (TS1479), though every Node that we name can. The code is the same for both.
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, URL } from 'node:url';

const PACKAGES = fileURLToPath(new URL('../packages/', import.meta.url));

for (const name of ['protocol', 'client', 'workspace']) {
  const dist = join(PACKAGES, name, 'dist');
  const target = join(dist, 'commonjs');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target);
  for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (path.endsWith('.d.ts')) cpSync(join(dist, path), join(target, path));
  }
  writeFileSync(join(target, 'package.json'), '{ "type": "commonjs" }\n');
}
