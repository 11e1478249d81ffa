import { randomUUID } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClientLock, ClientLockedError } from '@patchbay/client/home';
import type { Tokens, TokenStore } from '@patchbay/client';
import { CliError } from './cli-error.js';

/** Longer than a refresh may take. */
const LOCK_WAIT_MS = 45_000;

/** The stored login of one server. */
export interface StoredLogin {
  email: string;
  /** Absent in older files. */
  userId?: string;
  workspaceId: string | null;
  tokens: Tokens | null;
}

interface LoginFileContent {
  /** URL of the last server that was logged in to. */
  current: string | null;
  logins: Record<string, StoredLogin>;
}

/**
 * `credentials.json` in PATCHBAY_HOME, readable by its owner only. Every change holds a lock: the processes of a user
 * share a refresh token, which works once.
 */
export class LoginFile {
  private readonly file: string;
  private turn: Promise<unknown> = Promise.resolve();

  constructor(private readonly home: string) {
    this.file = join(home, 'credentials.json');
  }

  async read(): Promise<LoginFileContent> {
    const text = await readFile(this.file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw new CliError(`Cannot read ${this.file}: ${error.message}`);
    });
    if (text === null) return { current: null, logins: {} };
    try {
      const { current, logins } = JSON.parse(text) as LoginFileContent;
      return { current, logins: { ...logins } };
    } catch {
      throw new CliError(`${this.file} is damaged. Remove it and run "patchbay login".`);
    }
  }

  /** Stores the login to `url` and makes that server the default. */
  async save(url: string, login: StoredLogin): Promise<void> {
    await this.exclusive(async () => {
      const { logins } = await this.read();
      await this.write({ current: url, logins: { ...logins, [url]: login } });
    });
  }

  /** Changes the workspace of a login. */
  async choose(url: string, workspaceId: string): Promise<void> {
    await this.exclusive(async () => {
      const content = await this.read();
      const login = content.logins[url];
      if (!login) return;
      await this.write({ ...content, logins: { ...content.logins, [url]: { ...login, workspaceId } } });
    });
  }

  /** Removes the login to `url`; if it was the default, there is none afterwards. */
  async forget(url: string): Promise<void> {
    await this.exclusive(async () => {
      const { current, logins } = await this.read();
      const { [url]: _forgotten, ...others } = logins;
      await this.write({ current: current === url ? null : current, logins: others });
    });
  }

  /** The tokens of the login to `url`, shared by all processes of this home. */
  tokensOf(url: string): TokenStore {
    return {
      read: async () => (await this.read()).logins[url]?.tokens ?? null,
      update: (change) =>
        this.exclusive(async () => {
          const content = await this.read();
          const login = content.logins[url];
          const tokens = await change(login?.tokens ?? null);
          if (login)
            await this.write({ ...content, logins: { ...content.logins, [url]: { ...login, tokens } } });
          return tokens;
        }),
    };
  }

  private exclusive<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.turn.then(async () => {
      const lock = await this.lock();
      try {
        return await work();
      } finally {
        await lock.release();
      }
    });
    this.turn = mine.catch(() => undefined);
    return mine;
  }

  private async lock(): Promise<ClientLock> {
    const directory = join(this.home, 'login');
    const deadline = Date.now() + LOCK_WAIT_MS;
    for (;;) {
      try {
        await makePrivate(this.home);
        await makePrivate(directory);
        return await ClientLock.acquire(directory);
      } catch (error) {
        if (!(error instanceof ClientLockedError) || Date.now() > deadline) throw error;
        await sleep(50);
      }
    }
  }

  /** Atomic: a crash leaves the old file. */
  private async write(content: LoginFileContent): Promise<void> {
    const temporary = `${this.file}.${randomUUID()}`;
    try {
      const handle = await open(temporary, 'wx', 0o600);
      try {
        await handle.writeFile(`${JSON.stringify(content, null, 2)}\n`);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(temporary, this.file);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }
}

async function makePrivate(directory: string): Promise<void> {
  const made = await mkdir(directory, { recursive: true, mode: 0o700 });
  if (made === undefined) return;
  await chmod(directory, 0o700);
}
