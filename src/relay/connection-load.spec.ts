import { EventEmitter } from 'node:events';
import { jest } from '@jest/globals';
import { WebSocketServer } from 'ws';
import { ConnectionLoad } from './connection-load.js';
import type { EngineConnection } from './unauthenticated-gate.js';
import { type LoadLimits, UserLoad } from './user-load.js';
import { KnownWebSocketServer } from './websockets.js';

const MIB = 1024 * 1024;

type Upgrade = Parameters<KnownWebSocketServer['handleUpgrade']>;

/** A connection with controllable frames and writes. */
class FakeConnection extends EventEmitter {
  private readonly written: (() => void)[] = [];
  readonly socket = Object.assign(new EventEmitter(), {
    ...{ writableLength: 1, writable: true },
    write: (_nothing: string, done: () => void) => void this.written.push(done),
    destroyed: false,
    destroy: () => void (this.socket.destroyed = true),
  });
  readonly websocket = Object.assign(new EventEmitter(), {
    held: false,
    pause: () => void (this.websocket.held = true),
    resume: () => void (this.websocket.held = false),
  });
  readonly request = { socket: this.socket };

  /** As Engine.IO creates it. */
  constructor() {
    super();
    const upgraded = jest
      .spyOn(WebSocketServer.prototype, 'handleUpgrade')
      .mockImplementation((_request, _socket, _head, done) => done(this.websocket, this.request));
    new KnownWebSocketServer({ noServer: true }).handleUpgrade(
      ...([this.request, this.socket, Buffer.alloc(0), () => undefined] as unknown as Upgrade),
    );
    upgraded.mockRestore();
  }

  /** Receives bytes; if `whole`, as one complete event. */
  receive(bytes: number, whole = true): void {
    this.socket.emit('data', Buffer.alloc(bytes));
    if (whole) this.emit('packet', { type: 'message', data: 'x' });
  }

  send(bytes: number): void {
    this.emit('packetCreate', { data: Buffer.alloc(bytes) });
    this.emit('flush');
    this.emit('drain');
  }

  read(): void {
    for (const done of this.written.splice(0)) done();
  }
}

describe('a relay connection', () => {
  let limits: LoadLimits;
  let now: number;
  let load: UserLoad;
  let cuts: string[];
  beforeEach(() => {
    jest.useFakeTimers();
    limits = { user: 64 * MIB, total: 100 * MIB, heldBytes: 0, loads: new Set() };
    now = 0;
    cuts = [];
    load = new UserLoad(limits, true, () => now);
  });
  afterEach(() => void jest.useRealTimers());

  function open(of = load): { connection: FakeConnection; connectionLoad: ConnectionLoad } {
    const connection = new FakeConnection();
    const connectionLoad = new ConnectionLoad(connection as unknown as EngineConnection, of, 1_000, (why) =>
      cuts.push(why),
    );
    return { connection, connectionLoad };
  }

  it('is cut if its unread bytes exceed its user’s limit, but never for one event [RELAY-43]', () => {
    const { connection } = open();
    connection.send(80 * MIB);
    expect(cuts).toEqual([]);
    connection.send(1);
    expect([cuts, connection.socket.destroyed]).toEqual([['it does not read what the server sends'], true]);
    expect(limits.heldBytes).toBe(0);
  });

  it('is cut if all users exceed the total and its user holds the most [RELAY-43]', () => {
    const [one, other] = [open(), open(new UserLoad(limits, true, () => now))];
    one.connection.send(60 * MIB);
    other.connection.receive(39 * MIB, false);
    expect(cuts).toEqual([]);
    other.connection.receive(2 * MIB, false);
    expect([one.connection.socket.destroyed, other.connection.socket.destroyed]).toEqual([true, false]);
    expect(limits.heldBytes).toBe(41 * MIB);
  });

  it('is kept if another connection of the user holds more [RELAY-43]', () => {
    const [less, more] = [open(), open()];
    less.connection.send(20 * MIB);
    more.connection.send(35 * MIB);
    open(new UserLoad(limits, true, () => now)).connection.receive(46 * MIB, false);
    expect([less.connection.socket.destroyed, more.connection.socket.destroyed]).toEqual([false, true]);
  });

  it('is read again if its user returns after the pause of the last connection [RELAY-41]', () => {
    const { connection } = open();
    for (let sent = 0; sent < 65; sent += 1) connection.receive(MIB);
    connection.emit('close');
    now += 60_000;
    expect(open().connection.websocket.held).toBe(false);
  });

  it('is cut if the attachments of an event do not arrive [RELAY-41]', () => {
    const { connection } = open();
    connection.emit('packet', { type: 'message', data: '51-["x"]' });
    connection.emit('packet', { type: 'message', data: Buffer.alloc(1) });
    connection.emit('packet', { type: 'message', data: '52-["x"]' });
    connection.emit('packet', { type: 'message', data: Buffer.alloc(1) });
    jest.advanceTimersByTime(299_000);
    expect(cuts).toEqual([]);
    jest.advanceTimersByTime(1_000);
    expect(cuts).toEqual(['it did not complete an event in time']);
  });

  it('holds no bytes of a complete event, and may stay silent [RELAY-41]', () => {
    const { connection } = open();
    connection.receive(10);
    connection.emit('packet', { type: 'message', data: '52-["x"]' });
    for (const size of [1_000, 10]) connection.emit('packet', { type: 'message', data: Buffer.alloc(size) });
    expect(limits.heldBytes).toBe(0);
    connection.send(10);
    connection.read();
    jest.advanceTimersByTime(600_000);
    expect(cuts).toEqual([]);
  });

  it('has a base time to be read, and a second more per 64 KiB [RELAY-43]', () => {
    const { connection } = open();
    connection.send(128 * 1024);
    jest.advanceTimersByTime(2_900);
    connection.read();
    connection.send(128 * 1024);
    jest.advanceTimersByTime(2_900);
    expect(cuts).toEqual([]);
    jest.advanceTimersByTime(200);
    expect(cuts).toHaveLength(1);
  });

  it('gets one call at a time when there is room, or when it is gone [RELAY-43]', async () => {
    const [one, other] = [open(), open()];
    const got: string[] = [];
    const ask = (name: string, { connectionLoad }: typeof one): void =>
      void load.backpressure(connectionLoad).then(() => got.push(name));
    for (const { connection } of [one, other]) connection.send(5 * MIB);
    ask('first of one', one);
    ask('second of one', one);
    ask('other', other);
    await Promise.resolve();
    expect(got).toEqual([]);
    other.connection.emit('close');
    await Promise.resolve();
    expect(got).toEqual(['other']);
    one.connection.read();
    await Promise.resolve();
    expect(got).toEqual(['other', 'first of one']);
    one.connection.send(5 * MIB);
    jest.advanceTimersByTime(1);
    await Promise.resolve();
    expect(got).toHaveLength(2);
    one.connection.read();
    await Promise.resolve();
    expect(got).toEqual(['other', 'first of one', 'second of one']);
  });

  it('gets one call per call that was read, in order [RELAY-43]', async () => {
    const [one, other] = [open(), open()];
    const got: string[] = [];
    const ask = (name: string): void => void load.backpressure(one.connectionLoad).then(() => got.push(name));
    for (const { connection } of [one, other]) connection.send(5 * MIB);
    for (const name of ['first', 'second']) ask(name);
    one.connection.read();
    other.connection.read();
    ask('third');
    await Promise.resolve();
    expect(got).toEqual(['first']);
    for (let left = 2; left > 0; left -= 1) {
      jest.advanceTimersByTime(1);
      await Promise.resolve();
    }
    expect(got).toEqual(['first', 'second', 'third']);
  });

  it('has room for a call even if its user’s other clients read slowly [RELAY-43]', async () => {
    const slow = Array.from({ length: 20 }, () => open());
    for (const { connection, connectionLoad } of slow) {
      let waits = 0;
      for (let sent = 0; sent < 8 && waits === sent; sent += 1) {
        void load.backpressure(connectionLoad).then(() => (waits += 1));
        await Promise.resolve();
        if (waits > sent) connection.send(MIB / 2);
      }
    }
    const { connectionLoad } = open();
    await load.backpressure(connectionLoad);
    expect([cuts, limits.heldBytes < limits.user]).toEqual([[], true]);
  });

  it('with the most unread bytes is cut if another of its user has no room [RELAY-43]', async () => {
    const [first, largest, last] = [open(), open(), open()];
    first.connection.send(20 * MIB);
    largest.connection.send(44 * MIB);
    await load.backpressure(last.connectionLoad);
    expect(cuts).toEqual(['it has the most unread data, and other connections of its user have no room']);
    expect([first.connection.socket.destroyed, largest.connection.socket.destroyed]).toEqual([false, true]);
  });

  it('is paused while its user’s events exceed the byte rate [RELAY-41]', () => {
    const { connection } = open();
    for (let sent = 0; sent < 65; sent += 1) connection.receive(MIB);
    expect(connection.websocket.held).toBe(true);
    const later = open();
    expect(later.connection.websocket.held).toBe(true);
    now += 40;
    jest.advanceTimersByTime(40);
    expect([connection.websocket.held, later.connection.websocket.held]).toEqual([false, false]);
    expect(cuts).toEqual([]);
  });

  it('is paused while its user has too many bytes in flight [RELAY-41]', () => {
    const { connection } = open();
    load.handle(20 * MIB);
    expect(connection.websocket.held).toBe(false);
    load.handle(20 * MIB);
    expect(connection.websocket.held).toBe(true);
    load.handle(-20 * MIB);
    expect(connection.websocket.held).toBe(false);
  });

  it('is cut if its user has too many incomplete bytes [RELAY-41]', () => {
    const [one, other] = [open(), open()];
    one.connection.receive(40 * MIB, false);
    other.connection.receive(20 * MIB, false);
    expect(cuts).toEqual([]);
    other.connection.receive(5 * MIB, false);
    expect([one.connection.socket.destroyed, other.connection.socket.destroyed]).toEqual([false, true]);
    one.connection.receive(1);
    expect(limits.heldBytes).toBe(0);
  });

  it('holds no bytes of an event that completes after its end [RELAY-41]', () => {
    const { connection } = open();
    connection.receive(65 * MIB, false);
    expect(cuts).toHaveLength(1);
    connection.emit('packet', { type: 'message', data: '52-["x"]' });
    connection.emit('packet', { type: 'message', data: Buffer.alloc(MIB) });
    connection.emit('close');
    expect(limits.heldBytes).toBe(0);
  });
});
