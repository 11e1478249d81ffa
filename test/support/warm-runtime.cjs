'use strict';
const { default: Runtime } = require('jest-runtime');

/** Of packages; ours are loaded anew for each file, and so is the one that keeps the first logger that it was given. */
const SHARED = /\/node_modules\/(?!nestjs-pino\/)/;

/** The modules of packages that the files before have loaded, by their place. */
const warm = { esModuleRegistry: new Map(), moduleRegistry: new Map() };

/**
 * Jest's runtime, but for what costs half of the time of a test file that starts a server: it loads and compiles every
 * package anew, and none of it gets warm. Here the files of a worker share them, in one context (warm-environment.cjs).
 */
module.exports = class WarmRuntime extends Runtime {
  constructor(...args) {
    super(...args);
    for (const [name, modules] of Object.entries(warm))
      for (const [place, module] of modules) this.registries[name].set(place, module);
  }

  /** The runtime outlives its file: modules that it has loaded go on to load others by it. */
  teardown() {
    this.restoreAllMocks();
    for (const [name, modules] of Object.entries(warm)) {
      const own = this.registries[name];
      for (const [place, module] of own) {
        if (SHARED.test(place)) modules.set(place, module);
        else own.delete(place);
      }
    }
    this.mockState.clear();
    this.fileCache.clear();
    this.enterTestCode();
  }
};
