import process from 'node:process';
import { clearInterval, setInterval } from 'node:timers';

/** No test of ours may take as long. */
const LIMIT_MS = 300_000;

/**
 * A reporter of Jest that names the tests whose time is long over. A test that waits for ever is ended and named by Jest
 * itself; one that never lets go of its thread can't be, and its run ended without a word of it.
 */
export default class EndlessTests {
  /** Since when tests run, by their names with their files. */
  #running = new Map();
  #timer;

  /** @param {{ limitMs?: number }} options after which time a test is named, in milliseconds */
  constructor(_config, { limitMs = LIMIT_MS } = {}) {
    this.limitMs = limitMs;
  }

  onRunStart() {
    this.#timer = setInterval(() => this.#look(), this.limitMs / 10).unref();
  }

  onTestCaseStart({ path }, { fullName }) {
    this.#running.set(`${path}: ${fullName}`, Date.now());
  }

  onTestCaseResult({ path }, { fullName }) {
    this.#running.delete(`${path}: ${fullName}`);
  }

  onTestFileResult({ path }) {
    for (const name of this.#running.keys()) if (name.startsWith(`${path}: `)) this.#running.delete(name);
  }

  onRunComplete() {
    clearInterval(this.#timer);
  }

  getLastError() {}

  #look() {
    for (const [name, since] of this.#running) {
      const ms = Date.now() - since;
      if (ms < this.limitMs) continue;
      process.stderr.write(`\nNo end after ${Math.round(ms / 1000)} s: ${name}\n`);
      this.#running.set(name, Infinity);
    }
  }
}
