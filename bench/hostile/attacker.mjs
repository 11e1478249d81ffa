// The process of one attack: prepares it, is told to go, and says which answers it got.
import { setPriority } from 'node:os';
import process from 'node:process';
import { ATTACKS } from './attacks.mjs';
import { AttackFixture } from './attack-fixture.mjs';

// The machine's second core is also the watcher's.
setPriority(10);

let fixture;
let attack;

const ACTS = {
  async prepare({ name, ...given }) {
    attack = ATTACKS.find((one) => one.name === name);
    fixture = new AttackFixture(given);
    fixture.prepared = await attack.prepare?.(fixture);
    fixture.statuses.clear();
  },
  async run() {
    await attack.run(fixture, fixture.prepared);
  },
  statuses: async () => [...fixture.statuses].sort(([a], [b]) => a - b),
  close: async () => fixture.close(),
};

process.on('message', ({ act, ...rest }) => {
  ACTS[act](rest).then(
    (value) => process.send({ act, value }),
    (error) => process.send({ act, error: error.stack }),
  );
});
