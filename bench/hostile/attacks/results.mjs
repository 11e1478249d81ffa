// Turns that grow: results that are read again and again, and calls that nobody takes.
import { MIB, repeated, times } from '../attack-fixture.mjs';

/** @typedef {import('../attacks.mjs').Attack} Attack */

const create = (n) => ({ name: 'workspace_create_file', arguments: { path: `src/${n}.txt`, content: 'x' } });
const calls = (count, make) => Array.from({ length: count }, (_, n) => make(n));

/** Turns of calls that wait for a client, until the server takes no more. */
async function pendingTurns(fixture, turns, callsEach) {
  for (let n = 0; n < turns; n += 1) {
    const { status } = await fixture.turn(calls(callsEach, create));
    if (status !== 202) return;
  }
}

/** A client that has `answer` to every call. */
async function client(fixture, answer) {
  const socket = await fixture.socket();
  socket.on('tool:call', ({ turnId, callId, attempt, arguments: args }, acknowledge) => {
    acknowledge({ ok: true });
    void fixture.say(socket, 'tool:result', {
      turnId,
      callId,
      attempt,
      executionMs: 0,
      result: answer(args),
    });
  });
  await fixture.say(socket, 'client:resume', []);
  return socket;
}

/** @type {Attack[]} */
export const RESULTS = [
  {
    name: 'a turn of 80 reads of one file of 8 MB, asked for 20 times',
    isQuick: true,
    prepare: (fixture) => fixture.file('r.txt', repeated('a line of text\n', 8 * MIB - 64)),
    async run(fixture) {
      const read = () => ({ name: 'read', arguments: { path: '/r.txt' } });
      await fixture.turn(calls(80, read), { turnId: 'reads', waitMs: 10_000 });
      await times(20, () => fixture.get(`${fixture.home}/sessions/${fixture.session}/turns/reads`));
    },
  },
  {
    name: '200 turns of 50 reads of 200 KB at once',
    isQuick: true,
    prepare: (fixture) => fixture.file('s.txt', repeated('a line of text\n', 200_000)),
    run: (fixture) =>
      times(200, () => fixture.turn(calls(50, () => ({ name: 'read', arguments: { path: '/s.txt' } })))),
  },
  {
    name: 'a client that comes with 150,000 calls waiting',
    prepare: (fixture) => pendingTurns(fixture, 150, 1000),
    async run(fixture) {
      const socket = await fixture.socket();
      await fixture.say(socket, 'client:resume', []);
      await times(3, async () => fixture.say(await fixture.socket(), 'client:resume', []));
    },
  },
  {
    name: 'a client that comes with 20,000 calls waiting',
    prepare: (fixture) => pendingTurns(fixture, 20, 1000),
    async run(fixture) {
      for (let n = 0; n < 3; n += 1) {
        const socket = await fixture.socket({ clientId: 'same' });
        await fixture.say(socket, 'client:resume', []);
      }
    },
  },
  {
    name: 'a turn of 1,000 calls, each refused by its client',
    async prepare(fixture) {
      const socket = await fixture.socket();
      socket.on('tool:call', (_call, acknowledge) =>
        acknowledge({ ok: false, error: { code: 'X', message: 'no' } }),
      );
      await fixture.say(socket, 'client:resume', []);
    },
    async run(fixture) {
      await times(5, () => fixture.turn(calls(1000, create)));
      await new Promise((resolve) => setTimeout(resolve, 4_000));
    },
  },
  {
    name: 'a turn of 1,000 calls with a client that answers at once',
    isQuick: true,
    async prepare(fixture) {
      const facts = {
        sizeBytes: 8,
        hash: 'a'.repeat(64),
        created: true,
        overwritten: false,
        errorCode: null,
      };
      await client(fixture, ({ path }) => ({ success: true, message: 'File created.', path, ...facts }));
    },
    run: (fixture) => times(3, () => fixture.turn(calls(1000, create), { waitMs: 8_000 })),
  },
  {
    name: 'results of 15 MB that break the schema',
    isQuick: true,
    async prepare(fixture) {
      await client(fixture, () => ({ success: true, files: new Array(7 * MIB).fill(0) }));
    },
    run: (fixture) => fixture.turn([create(0), create(1), create(2)], { waitMs: 6_000 }),
  },
  {
    name: '200 results of 240,000 values',
    isQuick: true,
    async prepare(fixture) {
      await client(fixture, () => ({ success: true, files: new Array(120_000).fill([]) }));
    },
    run: (fixture) => fixture.turn(calls(200, create), { waitMs: 8_000 }),
  },
  {
    name: '1,000 entries of one call in a resume, each with a result',
    isQuick: true,
    async run(fixture) {
      const socket = await fixture.socket({ clientId: 'r' });
      let sent;
      socket.on('tool:call', (call, acknowledge) => {
        sent = call;
        acknowledge({ ok: true });
      });
      await fixture.say(socket, 'client:resume', []);
      await fixture.turn([create(0)]);
      await new Promise((resolve) => setTimeout(resolve, 500));
      const { turnId, callId, attempt } = sent ?? {};
      const result = { success: true, files: new Array(5000).fill({}) };
      const entry = { turnId, callId, attempt, state: 'succeeded', executionMs: 0, result };
      const again = await fixture.socket({ clientId: 'r' });
      await fixture.say(again, 'client:resume', new Array(800).fill(entry));
    },
  },
  {
    name: '2,000 requests that wait for one turn',
    isQuick: true,
    async run(fixture) {
      await fixture.turn(calls(1000, create), { turnId: 'long' });
      const waits = times(2000, () =>
        fixture.get(`${fixture.home}/sessions/${fixture.session}/turns/long?waitMs=2000`),
      );
      await waits;
    },
  },
];
