'use strict';
const { TestEnvironment } = require('jest-environment-node');

/** What Jest keeps in the context for one file alone. */
const OF_A_FILE = [
  ...['EVENT_HANDLERS', 'TEST_TIMEOUT_SYMBOL', 'RETRY_TIMES', 'RETRY_TIMES_SETTER'].map((name) =>
    Symbol.for(name),
  ),
  ...['RETRY_IMMEDIATELY', 'WAIT_BEFORE_RETRY', 'LOG_ERRORS_BEFORE_RETRY'].map((name) => Symbol.for(name)),
];

let ofThisWorker = null;

/**
 * The context that the test files of one Jest worker run in, one after the other, so that packages which one of them has
 * loaded are there for the next (warm-runtime.cjs). A file finds the variables of the environment and the clocks as the
 * first one did; what it sets on `globalThis` stays.
 */
module.exports = class WarmEnvironment extends TestEnvironment {
  constructor(config, context) {
    if (ofThisWorker !== null) return ofThisWorker;
    super(config, context);
    ofThisWorker = this;
    this.variables = { ...this.global.process.env };
  }

  async teardown() {
    this.fakeTimers.useRealTimers();
    this.fakeTimersModern.useRealTimers();
    const { env } = this.global.process;
    for (const name of Object.keys(env)) if (!(name in this.variables)) delete env[name];
    Object.assign(env, this.variables);
    for (const name of OF_A_FILE) delete this.global[name];
  }
};
