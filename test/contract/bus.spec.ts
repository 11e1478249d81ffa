import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { jest } from '@jest/globals';
import type { Bus } from '../../src/events/bus.js';
import type { BusMessage } from '../../src/events/messages.js';
import { EVERY_NODE, nodeChannel, userChannel, workspaceChannel } from '../../src/events/channels.js';
import { InProcessBus } from '../../src/events/in-process-bus.js';
import { RedisBus } from '../../src/events/redis-bus.js';
import { suiteFixture } from '../support/fixtures.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/system-commands.js';
import { waitFor } from '../support/wait-for.js';

const ada = { workspaceId: 'w', userId: 'ada' };
const ben = { workspaceId: 'w', userId: 'ben' };
const opened = (user: typeof ada, sessionId = 's'): BusMessage => ({
  ...{ type: 'session_opened', ...user, sessionId, conversationId: 'c', clientId: null },
});
const changed = (docPath: string): BusMessage => ({
  ...{ type: 'files_changed', workspaceId: 'w', root: 'proj', more: null },
  files: [{ docPath, path: docPath, sha256: null, version: 'v', by: null } as never],
});

/** Two ends of a bus: what is published at one is heard at the other, which in process is the same. */
interface Ends {
  here: Bus;
  there: Bus;
  close(): Promise<void>;
}

/** The tests of the port, on each of its implementations. */
function busTests(open: () => Promise<Ends>): void {
  const ends = suiteFixture(() => open());

  /** What is heard from now on on a channel at the other end. */
  async function listen(channel: Parameters<Bus['subscribe']>[0]): Promise<[BusMessage[], () => void]> {
    const received: BusMessage[] = [];
    const stop = ends.there.subscribe(channel, (message) => received.push(message));
    await settled();
    return [received, stop];
  }

  /** Waits until what was published before has arrived everywhere: messages of one node keep their order. */
  async function settled(): Promise<void> {
    let isThere = false;
    const stop = ends.there.subscribe(nodeChannel('probe'), () => (isThere = true));
    await waitFor(() => {
      ends.here.publish({ type: 'file_wanted', to: 'probe' });
      return isThere;
    }, 'the probe');
    stop();
  }

  it('carries each message on its channel, whole and in order', async () => {
    const [ofAda] = await listen(userChannel(ada));
    const [ofWorkspace] = await listen(workspaceChannel('w'));
    const [ofAll] = await listen(EVERY_NODE);
    const sessions = ['s1', 's2', 's3'].map((sessionId) => opened(ada, sessionId));
    const ended: BusMessage = { type: 'login_ended', loginId: 'l' };
    const removed: BusMessage = { type: 'member_removed', ...ben };
    const strange = changed('prøj/\u0000\ud800"ü\n');
    for (const message of [...sessions, ended, strange, removed]) ends.here.publish(message);
    await settled();
    expect(ofAda).toEqual(sessions);
    expect(ofWorkspace).toEqual([strange]);
    expect(ofAll).toEqual([ended, removed]);
  });

  it('lets a node hear nothing of users and workspaces that it does not follow', async () => {
    const [ofBen] = await listen(userChannel(ben));
    const [ofOther] = await listen(workspaceChannel('other'));
    ends.here.publish(opened(ada));
    ends.here.publish(opened({ workspaceId: 'other', userId: 'ben' }));
    ends.here.publish(changed('proj/a'));
    await settled();
    expect([...ofBen, ...ofOther]).toEqual([]);
  });

  it('calls each listener once, until its own subscription ends', async () => {
    const received: string[] = [];
    const listener = ({ type }: BusMessage): unknown => received.push(type);
    const stops = [1, 2].map(() => ends.there.subscribe(userChannel(ada), listener));
    await settled();
    const publish = async (): Promise<number> => {
      received.length = 0;
      ends.here.publish(opened(ada));
      await settled();
      return received.length;
    };
    expect(await publish()).toBe(2);
    stops[0]!();
    stops[0]!();
    expect(await publish()).toBe(1);
    stops[1]!();
    expect(await publish()).toBe(0);
    const again = ends.there.subscribe(userChannel(ada), listener);
    await settled();
    expect(await publish()).toBe(1);
    again();
  });

  it('calls listeners on the publishing node before publish returns', async () => {
    const received: BusMessage[] = [];
    const stop = ends.here.subscribe(userChannel(ada), (message) => received.push(message));
    ends.here.publish(opened(ada));
    expect(received).toEqual([opened(ada)]);
    stop();
    await settled();
  });

  it('keeps a message from no listener for another that throws', async () => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const stop = ends.there.subscribe(userChannel(ada), () => {
      throw new Error('broken');
    });
    const [received] = await listen(userChannel(ada));
    ends.here.publish(opened(ada));
    await settled();
    expect(received).toEqual([opened(ada)]);
    stop();
    jest.restoreAllMocks();
  });
}

describe('the bus in process', () => {
  busTests(() => {
    const bus = new InProcessBus();
    return Promise.resolve({ here: bus, there: bus, close: () => Promise.resolve() });
  });
});

/** A node's end of the bus, once Redis takes its messages. */
async function linked(url: string): Promise<RedisBus> {
  const bus = new RedisBus(url);
  await waitFor(() => bus.reach === 'linked', 'the link to Redis');
  return bus;
}

async function close(...buses: RedisBus[]): Promise<void> {
  for (const bus of buses) bus.onModuleDestroy();
  await Promise.all(buses.map((bus) => bus.onApplicationShutdown()));
}

/** What the buses log while the work goes on, one line each. */
async function loggedDuring(work: () => Promise<void>): Promise<string[]> {
  const lines: string[] = [];
  const levels = (['log', 'warn', 'error'] as const).map((level) =>
    jest.spyOn(Logger.prototype, level).mockImplementation((line: unknown) => void lines.push(String(line))),
  );
  try {
    await work();
  } finally {
    levels.forEach((level) => level.mockRestore());
  }
  return lines;
}

describeWith('redis-server', 'the bus over Redis', () => {
  let shared: RedisServer;
  busTests(async () => {
    shared = await RedisServer.start();
    const [here, there] = await Promise.all([linked(shared.url), linked(shared.url)]);
    return { here, there, close: () => close(here, there).then(() => shared.kill()) };
  });
});

describeWith('redis-server', 'the bus at a Redis', () => {
  let redis: RedisServer;
  let buses: RedisBus[];
  const bus = async (url = redis.url): Promise<RedisBus> => {
    const made = await linked(url);
    buses.push(made);
    return made;
  };
  beforeEach(async () => {
    buses = [];
    redis = await RedisServer.start();
  });
  afterEach(async () => {
    await close(...buses);
    await redis.kill();
  });

  /** Whether a message of one is heard by the other, however often it is published. */
  async function reaches(from: RedisBus, to: RedisBus): Promise<void> {
    let isHeard = false;
    const stop = to.subscribe(userChannel(ben), () => (isHeard = true));
    await waitFor(() => {
      from.publish(opened(ben));
      return isHeard;
    }, 'a message');
    stop();
  }

  it('joins sharded channels of those that have a listener only, and leaves them a while after the last', async () => {
    const one = await bus();
    const stops = [ada, ada, ben].map((user) => one.subscribe(userChannel(user), () => undefined));
    const channels = async (): Promise<string[]> =>
      ((await redis.ask('PUBSUB SHARDCHANNELS')).match(/patchbay:\S+/g) ?? []).sort();
    const [ofAda, ofBen] = [ada, ben].map((user) => `patchbay:1:${userChannel(user)}`);
    await waitFor(async () => (await channels()).length === 2, 'the channels');
    expect(await channels()).toEqual([ofAda, ofBen]);
    stops[0]!();
    stops[2]!();
    await waitFor(async () => (await channels()).length === 1, 'the end of one', 15_000);
    expect(await channels()).toEqual([ofAda]);
    expect(await redis.ask('PUBSUB CHANNELS')).not.toContain('patchbay');
  });

  it('that is killed and started again is missed with one line, and back with another, with all channels', async () => {
    const [one, other] = [await bus(), await bus()];
    const caughtUp = jest.fn();
    const received = jest.fn();
    one.caughtUp$.subscribe(caughtUp);
    one.subscribe(userChannel(ada), received);
    const lines = await loggedDuring(async () => {
      await redis.kill();
      await waitFor(() => one.reach === 'unlinked' && other.reach === 'unlinked', 'the loss');
      other.publish(opened(ada));
      // Several attempts to connect.
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      expect(caughtUp).not.toHaveBeenCalled();
      await redis.start();
      await waitFor(() => one.reach === 'linked' && other.reach === 'linked', 'the return');
    });
    expect(caughtUp).toHaveBeenCalledTimes(1);
    other.publish(opened(ada, 'later'));
    await reaches(other, one);
    expect(received.mock.calls).toEqual([[opened(ada, 'later')]]);
    const lost: unknown = expect.stringMatching(/^Redis is away \((?!.*redis:).*looks in the store/);
    expect(lines.sort()).toEqual([lost, lost, 'Redis is back.', 'Redis is back.']);
  });

  it('that does not answer counts as away after some seconds, and what is published meanwhile takes no memory', async () => {
    const [one, other] = [await bus(), await bus()];
    const lines = await loggedDuring(async () => {
      redis.pause();
      const large = changed('x'.repeat(500_000));
      for (let n = 0; n < 200; n += 1) one.publish(large);
      await waitFor(() => one.reach === 'unlinked', 'the loss');
      expect(pendingBytes(one)).toBeLessThanOrEqual(8 * 1024 * 1024);
      redis.resume();
      await waitFor(() => one.reach === 'linked' && other.reach === 'linked', 'the return');
    });
    await reaches(one, other);
    await waitFor(() => pendingBytes(one) === 0, 'the end of what was sent');
    expect(lines.filter((line) => line === 'Redis is back.')).toHaveLength(
      lines.filter((line) => line.startsWith('Redis is away (it does not answer)')).length,
    );
  });

  it('that is away at the start is found later', async () => {
    await redis.kill();
    const late = new RedisBus(redis.url);
    buses.push(late);
    const received = jest.fn();
    const lines = await loggedDuring(async () => {
      late.subscribe(userChannel(ada), received);
      late.publish(opened(ada));
      await new Promise((resolve) => setTimeout(resolve, 300));
      await redis.start();
      await waitFor(() => late.reach === 'linked', 'the link');
    });
    expect(lines).toEqual([expect.stringContaining('Redis is away (ECONNREFUSED)'), 'Redis is back.']);
    expect(received).toHaveBeenCalledTimes(1);
    await reaches(await bus(), late);
  });

  it('that wants another password is told of without the password or the URL', async () => {
    await redis.kill();
    redis = await RedisServer.start('--requirepass', 'right');
    const url = redis.url.replace('redis://', 'redis://:wrong-secret@');
    let wrong: RedisBus;
    const lines = await loggedDuring(async () => {
      wrong = new RedisBus(url);
      buses.push(wrong);
      await new Promise((resolve) => setTimeout(resolve, 1_500));
    });
    expect(lines).toEqual([expect.stringContaining('Redis is away (WRONGPASS)')]);
    expect(lines.join()).not.toMatch(/secret|redis:/);
    await bus(redis.url.replace('redis://', 'redis://:right@'));
  });

  it('is used with the commands and channels alone that docs/operations.md names', async () => {
    const operations = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8');
    const [, commands] = /access list needs `([^`]+)`/.exec(operations)!;
    const answer = await redis.ask(
      `ACL SETUSER patchbay on >word resetchannels &patchbay:1:* -@all ${commands}`,
    );
    expect(answer).toContain('+OK');
    const url = redis.url.replace('redis://', 'redis://patchbay:word@');
    const [one, other] = [await bus(url), await bus(url)];
    await reaches(one, other);
  });

  it('is used through plain channels where it is a node of a cluster', async () => {
    await redis.kill();
    const dir = await mkdtemp(join(tmpdir(), 'redis-cluster-'));
    redis = await RedisServer.start('--cluster-enabled', 'yes', '--dir', dir);
    await redis.ask('CLUSTER ADDSLOTSRANGE 0 16383');
    const [one, other] = [await bus(), await bus()];
    await reaches(one, other);
    expect(await redis.ask('PUBSUB CHANNELS')).toContain('patchbay:1:user/w/ben');
    await rm(dir, { recursive: true });
  });

  it('gives nothing on that is no message of ours, on another channel, or too long', async () => {
    const [one, other] = [await bus(), await bus()];
    const received = jest.fn();
    one.subscribe(userChannel(ada), received);
    await reaches(other, one);
    const name = `patchbay:1:${userChannel(ada)}`;
    const strange = [
      '',
      'null',
      '{}',
      '{"message":{"type":"x"}}',
      '[',
      JSON.stringify({ message: opened(ben) }),
    ];
    for (const text of strange) await redis.ask(`SPUBLISH ${name} ${JSON.stringify(text)}`);
    other.publish(opened(ada, 's'.repeat(1024 * 1024)));
    other.publish(opened(ada, 'last'));
    await waitFor(() => received.mock.calls.length > 0, 'the last message');
    expect(received.mock.calls).toEqual([[opened(ada, 'last')]]);
  });
});

/** Bytes that were sent to Redis and not taken by it yet. */
function pendingBytes(bus: RedisBus): number {
  return (bus as unknown as { link: { pendingBytes: number } }).link.pendingBytes;
}
