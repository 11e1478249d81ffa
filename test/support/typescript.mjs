// Lets a plain `node --import` run the TypeScript sources as they are, for processes that a test starts and kills.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { fileURLToPath, pathToFileURL, URL } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { transform } from '@swc/core';

const root = new URL('../../', import.meta.url);
// Node runs the hooks of this same file on a thread of their own.
if (isMainThread) register(import.meta.url);

export async function resolve(specifier, context, next) {
  const [, name, entry = 'index'] = /^@patchbay\/([^/]+)(?:\/([^/]+))?$/.exec(specifier) ?? [];
  if (name !== undefined) return next(new URL(`packages/${name}/src/${entry}.ts`, root).href, context);
  if (/^\.{1,2}\/.*\.js$/.test(specifier) && context.parentURL?.endsWith('.ts')) {
    const source = fileURLToPath(new URL(specifier, context.parentURL)).replace(/\.js$/, '.ts');
    if (existsSync(source)) return next(pathToFileURL(source).href, context);
  }
  return next(specifier, context);
}

export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
  const { code } = await transform(await readFile(fileURLToPath(url), 'utf8'), {
    filename: fileURLToPath(url),
    configFile: false,
    swcrc: false,
    sourceMaps: 'inline',
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
    },
    module: { type: 'es6' },
  });
  return { format: 'module', source: code, shortCircuit: true };
}
