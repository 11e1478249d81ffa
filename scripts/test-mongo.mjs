// npm run test:mongo: the ports, and whatever starts a server, on MongoDB: the server that
// PATCHBAY_TEST_MONGODB_URI names, or one that is started (test/support/mongo-choice.mjs).
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { HOW_TO_HAVE_MONGO, mongoChoice } from '../test/support/mongo-choice.mjs';

if (mongoChoice(process.env).kind === 'none') {
  console.error(`There is no MongoDB server: ${HOW_TO_HAVE_MONGO}.`);
  process.exit(2);
}
const { status } = spawnSync(
  'npx',
  [
    'jest',
    ...(process.argv.length > 2 ? process.argv.slice(2) : ['test/contract', 'test/e2e', 'test/faults']),
  ],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      NODE_OPTIONS: '--experimental-vm-modules --no-warnings',
      ...{ PATCHBAY_TEST_BACKEND: 'mongo', PATCHBAY_REQUIRE_MONGO: '1' },
    },
  },
);
process.exit(status ?? 1);
