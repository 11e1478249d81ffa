import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** Debian's packages of a browser engine, the smaller one first; `.ci/run` installs one. */
const COMMANDS = ['chromium-headless-shell', 'chromium'];

const { PATH = '', CI } = process.env;
const executablePath = COMMANDS.flatMap((command) =>
  PATH.split(delimiter).map((at) => join(at, command)),
).find((path) => existsSync(path));

/**
 * `describe` for what needs a real browser engine. Without one it is skipped and says so, or fails where CI=true: there one
 * has to be.
 */
export function describeInBrowser(name: string, suite: () => void): void {
  if (executablePath !== undefined) return void describe(name, suite);
  const missing = `no browser engine: apt-get install ${COMMANDS[0]}`;
  if (CI === 'true')
    return void describe(name, () => it('has its engine', () => Promise.reject(new Error(missing))));
  console.warn(`SKIPPED "${name}": ${missing}`);
  describe.skip(name, suite);
}

/** A browser of the test's own; close it. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: executablePath!,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
}
