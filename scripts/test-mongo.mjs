// npm run test:mongo: the ports, and whatever starts a server, on the MongoDB server that PATCHBAY_TEST_MONGODB_URI names.
import { spawnSync } from 'node:child_process';
import process from 'node:process';

if (!process.env.PATCHBAY_TEST_MONGODB_URI) {
  console.error('Name a server: PATCHBAY_TEST_MONGODB_URI=mongodb://127.0.0.1:27017 npm run test:mongo');
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
