// Puts the server and `patchbay-admin` into a few files, dist/server, which dist/main.js and dist/admin.js then run:
// node scripts/bundle-server.mjs
//
// Some 2,400 files of packages and of ours take longer to be found and linked than all else that a start does. The
// modules stay beside it, for workers, and scripts that use a part. What loads files of its own by their place, or a
// native one, stays outside; so does a driver that not everybody needs.
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const dist = fileURLToPath(new URL('../dist/', import.meta.url));

const OUTSIDE = ['libsql', 'mongoose', 'pino', 'piscina', 'reflect-metadata'];
/** What Nest and others take where it is installed. */
const OPTIONAL = [
  ...['@nestjs/microservices', '@nestjs/microservices/*', '@nestjs/platform-express', '@mikro-orm/core'],
  ...['@fastify/multipart', '@fastify/view', 'class-transformer', 'class-transformer/*', 'pino-pretty'],
  ...['bufferutil', 'utf-8-validate'],
];

/** CommonJS inside finds what it expects. */
const BANNER = `import { createRequire as __createRequire } from 'node:module';
import { dirname as __directoryOf } from 'node:path';
import { fileURLToPath as __pathOf } from 'node:url';
const require = __createRequire(import.meta.url);
const __filename = __pathOf(import.meta.url);
const __dirname = __directoryOf(__filename);`;

// The server finds its tools as files beside it, so each is one here, too.
const tools = (await readdir(`${dist}tools`)).filter((name) => name.endsWith('.tool.js'));

/** Only classes need their names: to name each closure that a call makes costs time, and 240 bytes of each that is kept. */
const NAME_ALL = 'var __name = (target, value) => __defProp(';
const NAME_CLASSES =
  'var __name = (target, value) => target.name === value || target.prototype === undefined ? target : __defProp(';

await rm(`${dist}server`, { recursive: true, force: true });
const { outputFiles } = await build({
  entryPoints: [`${dist}start.js`, `${dist}administer.js`, ...tools.map((name) => `${dist}tools/${name}`)],
  outdir: `${dist}server`,
  entryNames: '[name]',
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node20.19',
  format: 'esm',
  external: [...OUTSIDE, ...OPTIONAL],
  // Nest names providers and loggers after their classes.
  keepNames: true,
  sourcemap: true,
  sourcesContent: false,
  banner: { js: BANNER },
  logLevel: 'error',
  write: false,
});
if (!outputFiles.some(({ text }) => text.includes(NAME_ALL)))
  throw new Error('esbuild names functions in another way');
await mkdir(`${dist}server`);
for (const { path, text } of outputFiles) await writeFile(path, text.replace(NAME_ALL, NAME_CLASSES));
await writeFile(`${dist}main.js`, "import './server/start.js';\n");
await writeFile(`${dist}admin.js`, "#!/usr/bin/env node\nimport './server/administer.js';\n");
