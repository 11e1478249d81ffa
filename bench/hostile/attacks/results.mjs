// Turns that grow: results that are read again and again, and calls that nobody takes.
import { MIB, repeated, times } from '../attack-scene.mjs';

/** @typedef {import('../attacks.mjs').Attack} Attack */

const create = (n) => ({ name: 'workspace_create_file', arguments: { path: `src/${n}.txt`, content: 'x' } });
const calls = (count, make) => Array.from({ length: count }, (_, n) => make(n));

/** Turns of calls that wait for a client, until the server takes no more. */
async function pendingTurns(scene, turns, callsEach) {
  for (let n = 0; n < turns; n += 1) {
    const { status } = await scene.turn(calls(callsEach, create));
    if (status !== 202) return;
  }
}

/** A client that has `answer` to every call. */
async function client(scene, answer) {
  const socket = await scene.socket();
  socket.on('tool:call', ({ turnId, callId, attempt, arguments: args }, acknowledge) => {
    acknowledge({ ok: true });
    void scene.say(socket, 'tool:result', { turnId, callId, attempt, executionMs: 0, result: answer(args) });
  });
  await scene.say(socket, 'client:resume', []);
  return socket;
}

/** @type {Attack[]} */
export const RESULTS = [
  {
    name: 'a turn of 80 reads of one file of 8 MB, asked for 20 times',
    isQuick: true,
    prepare: (scene) => scene.file('r.txt', repeated('a line of text\n', 8 * MIB - 64)),
    async run(scene) {
      const read = () => ({ name: 'read', arguments: { path: '/r.txt' } });
      await scene.turn(calls(80, read), { turnId: 'reads', waitMs: 10_000 });
      await times(20, () => scene.get(`${scene.home}/sessions/${scene.session}/turns/reads`));
    },
  },
  {
    name: '200 turns of 50 reads of 200 KB at once',
    isQuick: true,
    prepare: (scene) => scene.file('s.txt', repeated('a line of text\n', 200_000)),
    run: (scene) =>
      times(200, () => scene.turn(calls(50, () => ({ name: 'read', arguments: { path: '/s.txt' } })))),
  },
  {
    name: 'a client that comes with 150,000 calls waiting',
    prepare: (scene) => pendingTurns(scene, 150, 1000),
    async run(scene) {
      const socket = await scene.socket();
      await scene.say(socket, 'client:resume', []);
      await times(3, async () => scene.say(await scene.socket(), 'client:resume', []));
    },
  },
  {
    name: 'a client that comes with 20,000 calls waiting',
    prepare: (scene) => pendingTurns(scene, 20, 1000),
    async run(scene) {
      for (let n = 0; n < 3; n += 1) {
        const socket = await scene.socket({ clientId: 'same' });
        await scene.say(socket, 'client:resume', []);
      }
    },
  },
  {
    name: 'a turn of 1,000 calls, each refused by its client',
    async prepare(scene) {
      const socket = await scene.socket();
      socket.on('tool:call', (_call, acknowledge) =>
        acknowledge({ ok: false, error: { code: 'X', message: 'no' } }),
      );
      await scene.say(socket, 'client:resume', []);
    },
    async run(scene) {
      await times(5, () => scene.turn(calls(1000, create)));
      await new Promise((resolve) => setTimeout(resolve, 4_000));
    },
  },
  {
    name: 'a turn of 1,000 calls with a client that answers at once',
    isQuick: true,
    async prepare(scene) {
      const facts = {
        sizeBytes: 8,
        hash: 'a'.repeat(64),
        created: true,
        overwritten: false,
        errorCode: null,
      };
      await client(scene, ({ path }) => ({ success: true, message: 'File created.', path, ...facts }));
    },
    run: (scene) => times(3, () => scene.turn(calls(1000, create), { waitMs: 8_000 })),
  },
  {
    name: 'results of 15 MB that break the schema',
    isQuick: true,
    async prepare(scene) {
      await client(scene, () => ({ success: true, files: new Array(7 * MIB).fill(0) }));
    },
    run: (scene) => scene.turn([create(0), create(1), create(2)], { waitMs: 6_000 }),
  },
  {
    name: '200 results of 240,000 values',
    isQuick: true,
    async prepare(scene) {
      await client(scene, () => ({ success: true, files: new Array(120_000).fill([]) }));
    },
    run: (scene) => scene.turn(calls(200, create), { waitMs: 8_000 }),
  },
  {
    name: '1,000 entries of one call in a resume, each with a result',
    isQuick: true,
    async run(scene) {
      const socket = await scene.socket({ clientId: 'r' });
      let sent;
      socket.on('tool:call', (call, acknowledge) => {
        sent = call;
        acknowledge({ ok: true });
      });
      await scene.say(socket, 'client:resume', []);
      await scene.turn([create(0)]);
      await new Promise((resolve) => setTimeout(resolve, 500));
      const { turnId, callId, attempt } = sent ?? {};
      const result = { success: true, files: new Array(5000).fill({}) };
      const entry = { turnId, callId, attempt, state: 'succeeded', executionMs: 0, result };
      const again = await scene.socket({ clientId: 'r' });
      await scene.say(again, 'client:resume', new Array(800).fill(entry));
    },
  },
  {
    name: '2,000 requests that wait for one turn',
    isQuick: true,
    async run(scene) {
      await scene.turn(calls(1000, create), { turnId: 'long' });
      const waits = times(2000, () =>
        scene.get(`${scene.home}/sessions/${scene.session}/turns/long?waitMs=2000`),
      );
      await waits;
    },
  },
];
