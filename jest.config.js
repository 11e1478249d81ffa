import process from 'node:process';
import { mongoChoice } from './test/support/mongo-choice.mjs';

/** One runner for the server, the packages and the tests against the running product. */
const shared = {
  extensionsToTreatAsEsm: ['.ts'],
  testEnvironment: 'node',
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
        },
        module: { type: 'es6' },
      },
    ],
  },
  moduleNameMapper: {
    '^@patchbay/([^/]+)$': '<rootDir>/packages/$1/src/index.ts',
    '^@patchbay/([^/]+)/([^/]+)$': '<rootDir>/packages/$1/src/$2.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
};

export default {
  ...shared,
  roots: [
    '<rootDir>/src',
    '<rootDir>/test',
    '<rootDir>/packages/protocol/src',
    '<rootDir>/packages/client/src',
    '<rootDir>/packages/workspace/src',
    '<rootDir>/packages/cli/src',
  ],
  testMatch: ['**/*.spec.ts'],
  reporters: ['default', '<rootDir>/test/support/endless-tests.mjs'],
  // Gives folders and databases a place in memory, starts a MongoDB server where one can be had, and says what the run has.
  globalSetup: '<rootDir>/test/support/before-all.mjs',
  globalTeardown: '<rootDir>/test/support/after-all.mjs',
  // Servers for tests are slower on MongoDB than the embedded store is.
  testTimeout: mongoChoice(process.env).kind === 'none' ? 30_000 : 180_000,
  // Of `it.concurrent`: scenes of processes mostly wait for each other.
  maxConcurrency: 3,
  // Most tests wait for sockets and processes: three at a time keep two cores busy, also where Jest would take one.
  maxWorkers: 3,
  workerIdleMemoryLimit: '1500MB',
  forceExit: false,
};
