import { resolve } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';

const ROOT = resolve(import.meta.dirname, '../..');

/** Entries of packages, or files of ours, as a page would load them. @throws where something in it is not for browsers */
export async function bundleForBrowser(...entries: string[]): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: entries.map((entry) => `export * from '${entry}';`).join('\n'), resolveDir: ROOT },
    bundle: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'loaded',
    write: false,
    logLevel: 'silent',
  });
  return outputFiles[0]!.text;
}

/** Runs a bundle where there is nothing but what every browser has too: no Buffer, no process, no require. */
export function runInPage<T>(bundle: string): T {
  const page = createContext({
    ...{ AbortController, AbortSignal, clearTimeout, console, crypto, fetch, Headers, Request, Response },
    ...{ setTimeout, TextDecoder, TextEncoder, URL, URLSearchParams },
  });
  runInContext(bundle, page);
  return (page as { loaded: T }).loaded;
}
