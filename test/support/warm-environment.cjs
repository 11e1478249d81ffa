'use strict';
const { runInContext } = require('node:vm');
const { TestEnvironment } = require('jest-environment-node');

/** What Jest keeps in the context for one file alone. */
const OF_A_FILE = [
  ...['EVENT_HANDLERS', 'TEST_TIMEOUT_SYMBOL', 'RETRY_TIMES', 'RETRY_TIMES_SETTER'].map((name) =>
    Symbol.for(name),
  ),
  ...['RETRY_IMMEDIATELY', 'WAIT_BEFORE_RETRY', 'LOG_ERRORS_BEFORE_RETRY'].map((name) => Symbol.for(name)),
];

/**
 * What the language and Node have, and no test replaces. A name of the global object costs a call into Node each time it
 * is looked up in a context that is not its first; a constant of a script comes before it, and costs nothing.
 */
const CONSTANTS = [
  ...['Object', 'Array', 'Math', 'JSON', 'Number', 'String', 'Boolean', 'Symbol', 'BigInt', 'RegExp'],
  ...['Function', 'Reflect', 'Proxy', 'Promise', 'Map', 'Set', 'WeakMap', 'WeakSet', 'WeakRef'],
  ...['FinalizationRegistry', 'Intl', 'Atomics', 'parseInt', 'parseFloat', 'isNaN', 'isFinite'],
  ...['Error', 'AggregateError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError'],
  ...['Buffer', 'ArrayBuffer', 'SharedArrayBuffer', 'DataView', 'Int8Array', 'Uint8Array', 'Int16Array'],
  ...['Uint16Array', 'Int32Array', 'Uint32Array', 'BigInt64Array', 'BigUint64Array', 'Uint8ClampedArray'],
  ...['Float32Array', 'Float64Array', 'encodeURIComponent', 'decodeURIComponent'],
  ...['URL', 'URLSearchParams', 'TextEncoder', 'TextDecoder', 'AbortController', 'AbortSignal'],
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
    const constants = CONSTANTS.map((name) => `${name} = globalThis.${name}`);
    runInContext(`const ${constants.join(', ')};`, this.getVmContext());
  }

  async teardown() {
    this.fakeTimers.useRealTimers();
    this.fakeTimersModern.useRealTimers();
    const { env } = this.global.process;
    for (const name of Object.keys(env)) if (!(name in this.variables)) delete env[name];
    Object.assign(env, this.variables);
    for (const name of OF_A_FILE) delete this.global[name];
    // Each has the tests of its file, and a file its own.
    const states = Object.getOwnPropertySymbols(this.global).filter(
      ({ description }) => description === 'JEST_STATE_SYMBOL',
    );
    for (const name of states) delete this.global[name];
    // What was ever taken from the global object, and with it all that a file had.
    this._globalProxy.leftovers = [];
  }
};
