// Kills the server again and again at moments that the seed decides, under load, and checks that nothing was lost, done twice
// or left open:  npm run crash -- --rounds 40 --seed 7 [--backend mongo]
//
// The run is test/faults/crash.spec.ts; `npm test` has a short one. On MongoDB as `npm run test:mongo` says.
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '40' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    backend: { type: 'string', default: 'sqlite' },
  },
});
for (const name of ['rounds', 'seed'])
  if (!/^[1-9]\d{0,8}$/.test(values[name])) {
    console.error(`--${name} takes a whole number from 1, not "${values[name]}".`);
    process.exit(2);
  }
const backend = { sqlite: {}, mongo: { PATCHBAY_TEST_BACKEND: 'mongo', PATCHBAY_REQUIRE_MONGO: '1' } }[
  values.backend
];
if (!backend) {
  console.error(`--backend takes sqlite or mongo, not "${values.backend}".`);
  process.exit(2);
}
const { status } = spawnSync('npx', ['jest', 'test/faults/crash.spec.ts'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    NODE_OPTIONS: '--experimental-vm-modules --no-warnings',
    ...{ CRASH_ROUNDS: values.rounds, CRASH_SEED: values.seed, ...backend },
  },
});
process.exit(status ?? 1);
