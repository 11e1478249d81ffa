// Puts the command line into one CommonJS file, packages/cli/dist/patchbay.cjs: node scripts/bundle-cli.mjs
//
// Ninety ES modules take longer to be found and linked than an unchanged push of ten thousand files takes to look at
// them, and so do the packages of Socket.IO for a `connect`. Inside the file a command is still evaluated only when it is
// called. Outside are two that speed up a socket where somebody has installed them.
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const at = (path) => fileURLToPath(new URL(`../packages/cli/${path}`, import.meta.url));

await build({
  entryPoints: [at('dist/main.js')],
  outfile: at('dist/patchbay.cjs'),
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'cjs',
  external: ['bufferutil', 'utf-8-validate'],
  // CommonJS has no import.meta.
  define: { 'import.meta.url': 'moduleUrl' },
  banner: { js: "const moduleUrl = require('node:url').pathToFileURL(__filename).href;" },
  logLevel: 'warning',
});
