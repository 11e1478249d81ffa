import { execFileSync } from 'node:child_process';
import { type Browser, chromium } from 'playwright-core';
import { FIND_BROWSER } from './system-commands.js';

/** A browser of the test's own, for tests of `describeWith('a browser engine', …)`; close it. */
export function launchBrowser(): Promise<Browser> {
  const [command, ...args] = FIND_BROWSER;
  return chromium.launch({
    executablePath: execFileSync(command, args, { encoding: 'utf8' }).trim(),
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
}
