import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LoginFile, type StoredLogin } from './login-file.js';

const URL = 'http://127.0.0.1:3000';
const login = (n: number): StoredLogin => ({
  email: 'ada@example.com',
  workspaceId: 'w',
  tokens: { accessToken: `a${n}`, refreshToken: `r${n}`, expiresAt: null },
});

describe('LoginFile', () => {
  let home: string;

  beforeEach(async () => {
    home = join(await mkdtemp(join(tmpdir(), 'patchbay-home-')), 'home');
  });
  afterEach(() => rm(join(home, '..'), { recursive: true }));

  it('holds no login at first', async () => {
    expect(await new LoginFile(home).read()).toEqual({ current: null, logins: {} });
  });

  it('is readable by its owner only, and so is its folder', async () => {
    await new LoginFile(home).save(URL, login(1));
    expect((await stat(home)).mode & 0o777).toBe(0o700);
    expect((await stat(join(home, 'credentials.json'))).mode & 0o777).toBe(0o600);
  });

  it('stores a login per server, and which was last', async () => {
    const file = new LoginFile(home);
    await file.save(URL, login(1));
    await file.save('http://other', login(2));
    expect(await file.read()).toEqual({
      current: 'http://other',
      logins: { [URL]: login(1), 'http://other': login(2) },
    });
  });

  it('shows every process the newest tokens, one process at a time', async () => {
    await new LoginFile(home).save(URL, login(0));
    const seen: (string | null | undefined)[] = [];
    await Promise.all(
      Array.from({ length: 6 }, () =>
        new LoginFile(home).tokensOf(URL).update(async (now) => {
          seen.push(now?.accessToken);
          await new Promise((resolve) => setTimeout(resolve, 5));
          return { ...now!, accessToken: `a${seen.length}` };
        }),
      ),
    );
    expect(seen).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'a5']);
  });

  it('leaves no lock and no partial file behind when a refresh fails', async () => {
    const file = new LoginFile(home);
    await file.save(URL, login(1));
    const failing = file.tokensOf(URL).update(() => Promise.reject(new Error('refused')));
    await expect(failing).rejects.toThrow('refused');
    expect(await file.tokensOf(URL).read()).toEqual(login(1).tokens);
    expect(await readdir(join(home, 'login'))).toEqual([]);
    expect((await readdir(home)).sort()).toEqual(['credentials.json', 'login']);
  });

  it('says what to do if the file is damaged', async () => {
    const file = new LoginFile(home);
    await file.save(URL, login(1));
    await writeFile(join(home, 'credentials.json'), '{"cur');
    await expect(file.read()).rejects.toThrow('Remove it and run "patchbay login"');
    expect(await readFile(join(home, 'credentials.json'), 'utf8')).toBe('{"cur');
  });
});
