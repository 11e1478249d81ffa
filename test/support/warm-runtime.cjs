'use strict';
const asyncHooks = require('node:async_hooks');
const { readFileSync } = require('node:fs');
const { pathToFileURL } = require('node:url');
const { default: Runtime } = require('jest-runtime');

/**
 * A test file that holds a clock, puts another module in the place of ours, or reads the log, has our modules to itself:
 * they keep what they have seen of the time, and nestjs-pino keeps the first logger that it was given.
 */
const HAS_ITS_OWN = /\b(useFakeTimers|spyOn\((Date|performance)\b|unstable_mockModule|logDestination)/;
const TO_ALL = /\/node_modules\/(?!nestjs-pino\/)/;

/** The modules that the files before have loaded, by their place. */
const warm = { esModuleRegistry: new Map(), moduleRegistry: new Map() };

/** Jest's own in the context (`expect` and its like), but for jest-circus, which has a state for one file. */
const ofJest = new Map();

/** Jest itself makes one a file. On Node 20 each that is in use makes every promise dearer; its next use takes it up again. */
const storages = [];
asyncHooks.AsyncLocalStorage = class extends asyncHooks.AsyncLocalStorage {
  constructor(...args) {
    super(...args);
    storages.push(this);
  }
};

/**
 * Jest's runtime, but for what costs half of the time of a test file that starts a server: it loads and compiles every
 * module anew, and none of it gets warm. Here the files of a worker share them, in one context (warm-environment.cjs).
 */
module.exports = class WarmRuntime extends Runtime {
  constructor(...args) {
    super(...args);
    this.registries.internalModuleRegistry = ofJest;
    this.hasItsOwn = HAS_ITS_OWN.test(readFileSync(this._testPath, 'utf8'));
    for (const [name, modules] of Object.entries(warm))
      this.registries[name] = this.hasItsOwn ? new Map(toAll(modules)) : modules;
  }

  /** The runtime outlives its file, as modules that it has loaded go on to load others by it: so it keeps nothing else. */
  teardown() {
    this.restoreAllMocks();
    for (const [name, modules] of Object.entries(warm)) {
      const own = this.registries[name];
      if (this.hasItsOwn) for (const [place, module] of toAll(own)) modules.set(place, module);
      else for (const place of own.keys()) if (this.isOfFile(place)) own.delete(place);
    }
    this.mockState.clear();
    this.fileCache.clear();
    this.transformCache.clear();
    for (const place of ofJest.keys()) if (place.includes('/jest-circus/')) ofJest.delete(place);
    this.enterTestCode();
    for (const storage of storages) storage.disable();
  }

  /** The test file itself, and what Jest gives to a module of its own accord. */
  isOfFile(place) {
    return (
      [this._testPath, pathToFileURL(this._testPath).href].includes(place) ||
      place.startsWith('@jest/globals/')
    );
  }
};

function toAll(modules) {
  return [...modules].filter(([place]) => TO_ALL.test(place));
}
