import { spawn } from 'node:child_process';
import * as disk from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { jest } from '@jest/globals';

import { ClientLockedError } from '../journal/client-locked-error.js';
import { ClientLock } from './client-lock.js';

describe('the client lock', () => {
  let directory: string;
  const held: ClientLock[] = [];
  const acquire = async () => {
    const lock = await ClientLock.acquire(directory);
    held.push(lock);
    return lock;
  };
  const locks = async () => (await disk.readdir(directory)).filter((name) => name.startsWith('lock-'));
  beforeEach(async () => {
    directory = join(await disk.mkdtemp(join(tmpdir(), 'patchbay-lock-')), 'client');
  });
  afterEach(async () => {
    await Promise.all(held.splice(0).map((lock) => lock.release()));
    await disk.rm(join(directory, '..'), { recursive: true });
  });

  it('has one holder, and is free after its release', async () => {
    const lock = await acquire();
    await expect(ClientLock.acquire(directory)).rejects.toThrow(ClientLockedError);
    await expect(ClientLock.acquire(directory)).rejects.toMatchObject({ pid: process.pid });
    await lock.release();
    await lock.release();
    await acquire();
    expect(await locks()).toHaveLength(1);
  });

  it.each(['there', 'not there'])(
    'has at most one winner among many contenders, in a folder that is %s',
    async (is) => {
      if (is === 'there') await disk.mkdir(directory);
      const results = await Promise.allSettled(Array.from({ length: 8 }, () => acquire()));
      expect(results.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(1);
      for (const result of results) {
        if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(ClientLockedError);
      }
    },
  );

  /** Gives this process's lock file the name of another process's lock. */
  const becomeLockOf = async (change: (parts: string[]) => unknown) => {
    await acquire();
    const [name] = await locks();
    const parts = name!.split('-');
    change(parts);
    await disk.rename(join(directory, name!), join(directory, parts.join('-')));
    return join(directory, parts.join('-'));
  };

  it('does not outlive a killed process', async () => {
    const child = spawn('sleep', ['60']);
    const exited = new Promise((resolve) => child.once('exit', resolve));
    await becomeLockOf((parts) => (parts[2] = String(child.pid)) && (parts[3] = '0'));
    await expect(ClientLock.acquire(directory)).rejects.toMatchObject({ pid: child.pid });
    child.kill('SIGKILL');
    await exited;
    await acquire();
    expect(await locks()).toHaveLength(1);
  });

  it('of a dead process is taken over even if another process reuses its pid', async () => {
    await becomeLockOf((parts) => (parts[3] = '12345'));
    await acquire();
    expect(await locks()).toHaveLength(1);
  });

  it('of another machine or container holds while it is refreshed', async () => {
    const foreign = await becomeLockOf((parts) => (parts[1] = '0123456789ab'));
    await expect(ClientLock.acquire(directory)).rejects.toThrow(ClientLockedError);
    const seen = async (ageMs: number) => {
      const then = new Date(Date.now() - ageMs);
      await disk.utimes(foreign, then, then);
    };
    await seen(25_000);
    await expect(ClientLock.acquire(directory)).rejects.toThrow(ClientLockedError);
    await seen(31_000);
    await acquire();
  });

  it.each([60_000, 24 * 3_600_000, 20 * 365 * 24 * 3_600_000])(
    'of another machine is stale with a time %d ms in the future',
    async (ms) => {
      const foreign = await becomeLockOf((parts) => (parts[1] = '0123456789ab'));
      const seen = async (aheadMs: number) => {
        const then = new Date(Date.now() + aheadMs);
        await disk.utimes(foreign, then, then);
      };
      await seen(20_000);
      await expect(ClientLock.acquire(directory)).rejects.toThrow(ClientLockedError);
      await seen(ms);
      await acquire();
      expect(await locks()).toHaveLength(1);
    },
  );

  it('of a running process holds, whatever its time', async () => {
    await acquire();
    const path = join(directory, (await locks())[0]!);
    const then = new Date(Date.now() + 24 * 3_600_000);
    await disk.utimes(path, then, then);
    await expect(ClientLock.acquire(directory)).rejects.toMatchObject({ pid: process.pid });
  });

  it('is refreshed for other machines while it is held', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'Date', 'performance', 'queueMicrotask'] });
    try {
      await acquire();
      const path = join(directory, (await locks())[0]!);
      const longAgo = new Date(Date.now() - 60_000);
      await disk.utimes(path, longAgo, longAgo);
      jest.advanceTimersByTime(5_000);
      // Nothing signals the refresh, so the test polls.
      while ((await disk.stat(path)).mtimeMs < longAgo.getTime() + 30_000);
    } finally {
      jest.useRealTimers();
    }
  });

  it('holds for a process of another user, which may not be signalled', async () => {
    await becomeLockOf((parts) => parts.splice(2, 2, '1', '0'));
    const kill = jest.spyOn(process, 'kill').mockImplementation(() => {
      throw Object.assign(new Error('Not yours.'), { code: 'EPERM' });
    });
    try {
      await expect(ClientLock.acquire(directory)).rejects.toMatchObject({ pid: 1 });
    } finally {
      kill.mockRestore();
    }
  });

  it('leaves other files in its folder alone', async () => {
    await disk.mkdir(directory);
    await disk.writeFile(join(directory, 'journal.jsonl'), 'x');
    await acquire();
    expect(await disk.readFile(join(directory, 'journal.jsonl'), 'utf8')).toBe('x');
  });
});
