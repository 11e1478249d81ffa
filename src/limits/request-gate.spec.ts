import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Agent, get, type IncomingMessage } from 'node:http';
import Fastify from 'fastify';
import { ClientAddresses } from '../common/http/client-address.js';
import { gateRequests, RequestGate, Senders } from './request-gate.js';

const LANES = 64;
const NEW = 40;

/** Sends one GET; resolves with the text of the response. */
async function ask(port: number, agent: Agent, token: string): Promise<string> {
  const sent = get({ port, agent, headers: { authorization: token } });
  const [response] = (await once(sent, 'response')) as [NodeJS.ReadableStream];
  let text = '';
  for await (const part of response) text += String(part);
  return text;
}

/** Any token is valid and names its user, except made-up ones. */
function senders(proxies: string[] = []): Senders {
  const known = new Senders(new ClientAddresses(proxies));
  known.userOf = ({ authorization }) =>
    authorization === undefined || authorization.startsWith('made up') ? null : authorization;
  return known;
}

function busyFor(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** A gate that has already begun a request directly in this turn of the event loop. */
function busyGate(now?: () => number): RequestGate {
  const gate = new RequestGate(now);
  gate.enter('first', () => undefined);
  return gate;
}

describe('RequestGate', () => {
  it('begins a request directly if none waits, but only one per turn of the event loop', async () => {
    let turn = 0;
    const gate = new RequestGate(undefined, () => turn);
    const begun: string[] = [];
    const enter = (name: string): void => gate.enter('a', () => begun.push(name));
    enter('1');
    expect(begun).toEqual(['1']);
    enter('2');
    expect(begun).toEqual(['1']);
    await new Promise(setImmediate);
    turn += 1;
    enter('3');
    expect(begun).toEqual(['1', '2', '3']);
    turn += 1;
    // A new connection goes first.
    gate.connected();
    enter('4');
    expect(begun).toHaveLength(3);
  });

  it('lets new connections in, however busy other connections are', async () => {
    const fastify = Fastify();
    let answered = 0;
    gateRequests(fastify, senders());
    fastify.get('/', () => {
      busyFor(2);
      answered += 1;
      return 'ok';
    });
    await fastify.listen({ port: 0, host: '127.0.0.1' });
    const { port } = fastify.server.address() as AddressInfo;
    const agent = new Agent({ keepAlive: true });
    let isRunning = true;
    const lanes = Array.from({ length: LANES }, async () => {
      while (isRunning) await ask(port, agent, 'much');
    });
    while (answered < LANES * 4) await new Promise((resolve) => setTimeout(resolve, 10));
    const before = answered;
    const others = Array.from({ length: NEW }, () => ask(port, new Agent(), 'little'));
    expect(await Promise.all(others)).toEqual(others.map(() => 'ok'));
    // One connection per round of all lanes would have been about 40 × 64.
    expect(answered - before).toBeLessThan((NEW * LANES) / 4);
    isRunning = false;
    await Promise.all(lanes);
    agent.destroy();
    await fastify.close();
  });

  it('serves senders in turn', async () => {
    const gate = busyGate();
    const begun: string[] = [];
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) gate.enter(name[0]!, () => begun.push(name));
    await new Promise(setImmediate);
    expect(begun).toEqual(['a1', 'b1', 'c1', 'a2', 'a3']);
  });

  it('begins fewer requests at once if a turn of the event loop is slow, and all of them in the end', async () => {
    let now = 0;
    const gate = busyGate(() => now);
    const turns: number[] = [];
    let begun = 0;
    for (let n = 0; n < 200; n += 1) gate.enter('a', () => (begun += 1));
    for (; begun < 200; now += 100) {
      const before = begun;
      await new Promise(setImmediate);
      turns.push(begun - before);
    }
    expect(turns.slice(0, 5)).toEqual([64, 32, 16, 8, 8]);
  });

  it('does not begin fewer requests because new connections go first, however many open and close', async () => {
    let now = 0;
    const gate = busyGate(() => now);
    const turns: number[] = [];
    let begun = 0;
    for (let n = 0; n < 256; n += 1) gate.enter('a', () => (begun += 1));
    for (; begun < 256; now += 5) {
      const before = begun;
      gate.connected();
      await new Promise(setImmediate);
      if (begun > before) turns.push(begun - before);
    }
    expect(turns).toEqual([64, 64, 64, 64]);
  });

  it('has one lane per user, and one for all unauthenticated requests of an address', () => {
    const of = (address: string, headers: object): string =>
      senders(['10.0.0.1']).of({ socket: { remoteAddress: address }, headers } as IncomingMessage);
    const unauthenticated = [
      of('192.0.2.7', {}),
      of('192.0.2.7', { authorization: 'made up 1' }),
      of('192.0.2.7', { authorization: 'made up 2', cookie: 'a=1' }),
      of('10.0.0.1', { 'x-forwarded-for': '192.0.2.7' }),
    ];
    expect(new Set(unauthenticated).size).toBe(1);
    expect(of('192.0.2.8', {})).not.toBe(unauthenticated[0]);
    expect(of('2001:db8:1:2::1', {})).toBe(of('2001:db8:1:3::1', {}));
    expect(of('192.0.2.7', { authorization: 'user' })).toBe(of('192.0.2.8', { authorization: 'user' }));
  });
});
