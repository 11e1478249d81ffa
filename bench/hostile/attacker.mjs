// The process of one attack: prepares it, is told to go, and says which answers it got.
import { setPriority } from 'node:os';
import process from 'node:process';
import { ATTACKS } from './attacks.mjs';
import { AttackScene } from './attack-scene.mjs';

// The machine's second core is also the watcher's.
setPriority(10);

let scene;
let attack;

const ACTS = {
  async prepare({ name, ...given }) {
    attack = ATTACKS.find((one) => one.name === name);
    scene = new AttackScene(given);
    scene.prepared = await attack.prepare?.(scene);
    scene.statuses.clear();
  },
  async run() {
    await attack.run(scene, scene.prepared);
  },
  statuses: async () => [...scene.statuses].sort(([a], [b]) => a - b),
  close: async () => scene.close(),
};

process.on('message', ({ act, ...rest }) => {
  ACTS[act](rest).then(
    (value) => process.send({ act, value }),
    (error) => process.send({ act, error: error.stack }),
  );
});
