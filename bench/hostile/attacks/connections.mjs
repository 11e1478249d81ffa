// Connections that are opened, held, filled and never read.
import { MIB, repeated, sha256, times } from '../attack-fixture.mjs';

/** @typedef {import('../attacks.mjs').Attack} Attack */

/** The largest file that there may be. */
const BIG = Buffer.alloc(8 * MIB - 1, 97);

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const head = (fixture, method, path, more = '') =>
  `${method} /api/v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${fixture.token}\r\n${more}\r\n`;

/** @type {Attack[]} */
export const CONNECTIONS = [
  {
    name: '200 downloads of 8 MB that nobody reads',
    isQuick: true,
    prepare: (fixture) => fixture.file('big.bin', BIG),
    async run(fixture) {
      await times(200, () => fixture.line(head(fixture, 'GET', `${fixture.home}/contents/big.bin`)));
      await pause(4_000);
    },
  },
  {
    name: '200 packs of an 8 MB file that nobody reads',
    isQuick: true,
    prepare: (fixture) => fixture.file('big.bin', BIG),
    async run(fixture) {
      const body = JSON.stringify({ sha256s: [sha256(BIG)] });
      const more = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
      const path = `${fixture.home}/blobs/read`;
      await times(200, async () => (await fixture.line(head(fixture, 'POST', path, more))).write(body));
      await pause(4_000);
    },
  },
  {
    name: '200 bodies of 16 MB that never end',
    isQuick: true,
    async run(fixture) {
      const more = `Content-Type: application/json\r\nContent-Length: ${16 * MIB - 1}\r\n`;
      const path = `${fixture.home}/sessions/${fixture.session}/turns`;
      const body = `{"toolCalls":"${'a'.repeat(15 * MIB)}`;
      await times(200, async () => (await fixture.line(head(fixture, 'POST', path, more))).write(body));
      await pause(4_000);
    },
  },
  {
    name: '2,000 connections that say nothing',
    async run(fixture) {
      await times(2000, () => fixture.line(''));
      await pause(2_000);
    },
  },
  {
    name: 'connections that are opened and closed without a pause',
    isQuick: true,
    async run(fixture) {
      const end = Date.now() + 6_000;
      await times(100, async () => {
        while (Date.now() < end) (await fixture.line('')).destroy();
      });
    },
  },
  {
    name: '20,000 requests on one connection',
    isQuick: true,
    async run(fixture) {
      const line = await fixture.line('');
      line.resume();
      line.write(head(fixture, 'GET', `${fixture.home}/files`).repeat(20_000));
      await pause(4_000);
    },
  },
  {
    name: 'strangers’ websockets with 15 MB before their CONNECT',
    isQuick: true,
    async run(fixture) {
      const handshake = `40/relay,{"token":"${'x'.repeat(15 * MIB)}"}`;
      await times(40, async () => (await fixture.webSocket()).send(handshake));
      await pause(3_000);
    },
  },
  {
    name: 'strangers’ websockets with JSON that is slow to read',
    async run(fixture) {
      const handshake = `40/relay,{"a":[${repeated('[1e1]', 8 * MIB, ',')}]}`;
      await times(20, async () => (await fixture.webSocket()).send(handshake));
      await pause(3_000);
    },
  },
  {
    name: '2,000 strangers’ websockets',
    isQuick: true,
    async run(fixture) {
      await times(2000, () => fixture.webSocket());
      await pause(3_000);
    },
  },
  {
    name: '500 clients of one user',
    isQuick: true,
    async run(fixture) {
      await times(500, async () => fixture.say(await fixture.socket(), 'client:resume', []));
      await pause(1_000);
    },
  },
  {
    name: 'a client that connects again and again',
    async run(fixture) {
      for (let n = 0; n < 300; n += 1) {
        const socket = await fixture.socket({ clientId: 'again' });
        socket.emit('client:resume', [], () => {});
      }
    },
  },
  {
    name: 'a client that floods with uploads of 8 MB',
    isQuick: true,
    async run(fixture) {
      const socket = await fixture.socket();
      await fixture.say(socket, 'client:resume', []);
      const content = Buffer.alloc(8 * MIB - 1, 97);
      const file = { docPath: 'a.txt', path: '/a.txt', content, sha256: 'b'.repeat(64), baseSha256: null };
      await times(30, () => fixture.say(socket, 'files:put', file));
    },
  },
  {
    name: 'a client that floods with events of 15 MB of JSON',
    isQuick: true,
    async run(fixture) {
      const socket = await fixture.socket();
      await fixture.say(socket, 'client:resume', []);
      const result = new Array(7 * MIB).fill(0);
      const report = { turnId: 't', callId: '0196e9a0-0000-7000-8000-000000000001', attempt: 1, result };
      await times(4, () => fixture.say(socket, 'tool:result', report));
    },
  },
  {
    name: 'frames with a hundred thousand attachments to come',
    async run(fixture) {
      const places = repeated('{"_placeholder":true,"num":0}', 3 * MIB, ',');
      await times(4, async () => {
        const socket = await fixture.socket();
        await fixture.say(socket, 'client:resume', []);
        const engine = socket.io.engine;
        engine.write(`451-/relay,1["files:put",{"a":[${places}]}]`);
        for (let n = 0; n < 1000; n += 1) engine.write(Buffer.alloc(1));
      });
      await pause(2_000);
    },
  },
  {
    name: 'a client that never reads what it is sent',
    isQuick: true,
    async run(fixture) {
      const content = 'x'.repeat(4 * MIB);
      const socket = await fixture.socket({ maxInFlight: 8 });
      await fixture.say(socket, 'client:resume', []);
      socket.io.engine.transport.ws._socket.pause();
      const call = { name: 'workspace_create_file', arguments: { path: 'a.txt', content } };
      await times(60, () =>
        fixture.turn([call, call, call].map((one, n) => ({ ...one, toolCallId: `c${n}` }))),
      );
      await pause(2_000);
    },
  },
];
