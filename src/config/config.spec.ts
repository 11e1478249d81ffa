import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Config, ConfigError, describeVariables, serverPlace, unknownVariables } from './config.js';

const SECRET = 's'.repeat(32);

function faultsOf(env: Record<string, string>): readonly string[] {
  try {
    Config.load(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

describe('the configuration', () => {
  it('starts from an empty environment, with the limits of the protocol [TURN-1] [TURN-4] [TURN-10]', () => {
    expect(Config.load({})).toMatchObject({
      port: 3000,
      host: '127.0.0.1',
      dataDir: './.patchbay',
      jwtSecret: null,
      origins: [],
      rateLimit: 3000,
      registration: 'first',
      apiDocs: 'on',
      maxBodyBytes: 16_777_216,
      maxFileBytes: 8_388_608,
      maxCallsPerTurn: 1000,
      maxOpenTurns: 1000,
      maxWaitMs: 300_000,
      deliveryMs: 300_000,
      approvalMs: 900_000,
      executionMs: 120_000,
      accessTokenMinutes: 15,
    });
  });

  it('limits a member below a workspace, and refuses the opposite [SHARE-1] [SHARE-3]', () => {
    expect(Config.load({})).toMatchObject({
      ...{ maxStoredBytes: 10 * 1024 ** 3, maxUserStoredBytes: 5 * 1024 ** 3 },
      ...{ maxFiles: 200_000, maxUserFiles: 150_000, maxVersions: 2_000_000, maxUserVersions: 1_000_000 },
      ...{ maxSessions: 2_000_000, maxUserSessions: 1_000_000 },
      ...{ maxMembers: 1000, maxUserWorkspaces: 100, maxMakerMemberships: 100 },
    });
    for (const what of ['STORED_BYTES', 'FILES', 'VERSIONS']) {
      const env = { [`PATCHBAY_MAX_${what}`]: '10', [`PATCHBAY_MAX_USER_${what}`]: '10' };
      expect(faultsOf(env)).toEqual([`PATCHBAY_MAX_USER_${what} must be below PATCHBAY_MAX_${what}`]);
      expect(faultsOf({ ...env, [`PATCHBAY_MAX_USER_${what}`]: '9' })).toEqual([]);
    }
  });

  it('uses values that are set, and treats empty ones as unset', () => {
    const env = {
      PORT: '0',
      HOST: '',
      PATCHBAY_RATE_LIMIT: 'OFF',
      PATCHBAY_ORIGINS: 'https://a.com, http://b.com:81,',
    };
    expect(Config.load(env)).toMatchObject({
      port: 0,
      host: '127.0.0.1',
      rateLimit: null,
      origins: ['https://a.com', 'http://b.com:81'],
    });
  });

  it('names every fault in one message', () => {
    expect(() =>
      Config.load({
        PORT: '65536',
        PATCHBAY_LOG_LEVEL: 'loud',
        PATCHBAY_JWT_SECRET: 'short',
        PATCHBAY_ORIGINS: 'https://a.com/path',
        PATCHBAY_GRACE_MS: '1e3',
      }),
    ).toThrow(
      new ConfigError([
        'PORT must be a whole number from 0 to 65535, not "65536"',
        'PATCHBAY_LOG_LEVEL must be one of silent, fatal, error, warn, info, debug, trace, not "loud"',
        'PATCHBAY_JWT_SECRET must have at least 32 characters',
        'PATCHBAY_ORIGINS: "https://a.com/path" is not an origin such as https://app.example.com',
        'PATCHBAY_GRACE_MS must be a whole number from 0 to 3600000, not "1e3"',
      ]),
    );
  });

  it('requires a secret in production, and never shows one', () => {
    expect(faultsOf({ NODE_ENV: 'production' })).toEqual([
      'PATCHBAY_JWT_SECRET or PATCHBAY_JWT_SECRET_FILE is required with NODE_ENV=production',
    ]);
    expect(faultsOf({ NODE_ENV: 'production', PATCHBAY_JWT_SECRET: SECRET })).toEqual([]);
    expect(faultsOf({ PATCHBAY_JWT_SECRET: 'hunter2' }).join()).not.toContain('hunter2');
  });

  it('reads the secret from a file, which keeps it out of the environment', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'patchbay-config-'));
    const file = join(directory, 'secret');
    await writeFile(file, `${SECRET}\n`);
    const env = { NODE_ENV: 'production', PATCHBAY_JWT_SECRET_FILE: file };
    expect(Config.load(env).jwtSecret).toBe(SECRET);
    expect(faultsOf({ ...env, PATCHBAY_JWT_SECRET: SECRET })).toEqual([
      'PATCHBAY_JWT_SECRET and PATCHBAY_JWT_SECRET_FILE must not both be set',
    ]);
    await writeFile(file, 'hunter2');
    expect(faultsOf(env)).toEqual(['PATCHBAY_JWT_SECRET_FILE must have at least 32 characters']);
    await rm(directory, { recursive: true });
    expect(faultsOf(env)).toEqual([`PATCHBAY_JWT_SECRET_FILE: "${file}" can't be read (ENOENT)`]);
  });

  it('accepts a MongoDB URI with a database name, and then requires a secret that all servers share', () => {
    const uri = 'mongodb://patchbay:hunter2@one:27017,two/patchbay?replicaSet=rs0';
    expect(Config.load({}).mongodbUri).toBeNull();
    const env = { PATCHBAY_MONGODB_URI: uri };
    expect(faultsOf(env)).toEqual([
      'PATCHBAY_JWT_SECRET or PATCHBAY_JWT_SECRET_FILE is required with PATCHBAY_MONGODB_URI',
    ]);
    expect(Config.load({ ...env, PATCHBAY_JWT_SECRET: SECRET }).mongodbUri).toBe(uri);
    for (const bad of [
      'mongodb://a:hunter2@one',
      'mongodb://a:hunter2@one/',
      'http://a:hunter2@one/patchbay',
    ])
      expect(faultsOf({ PATCHBAY_MONGODB_URI: bad, PATCHBAY_JWT_SECRET: SECRET })).toEqual([
        'PATCHBAY_MONGODB_URI must be a URI with a database, such as mongodb://host:27017/patchbay',
      ]);
  });

  it('accepts a Redis URL, and shows no part of an invalid one', () => {
    expect(Config.load({}).redisUrl).toBeNull();
    for (const url of ['redis://h', 'rediss://user:p%40ss@[::1]:6380/1', 'redis://:hunter2@h:6379/'])
      expect(Config.load({ PATCHBAY_REDIS_URL: url }).redisUrl).toBe(url);
    for (const bad of [
      'h:6379',
      'http://:hunter2@h',
      'redis://',
      'redis://:hunter2%@h',
      'redis://h/x',
      'redis://h?a=b',
    ])
      expect(faultsOf({ PATCHBAY_REDIS_URL: bad })).toEqual([
        'PATCHBAY_REDIS_URL must be a URL such as redis://host:6379 or rediss://user:password@host:6379',
      ]);
  });

  it('accepts a base path with or without a trailing slash, and refuses characters that a URL would escape', () => {
    for (const [given, basePath] of [
      ['/patchbay', '/patchbay'],
      ['/a/b.c/', '/a/b.c'],
      ['/', ''],
      ['', ''],
    ] as const)
      expect(Config.load({ PATCHBAY_BASE_PATH: given }).basePath).toBe(basePath);
    for (const bad of [
      'patchbay',
      '//a',
      '/a//b',
      '/../a',
      '/a/.',
      '/a b',
      '/a?b',
      '/%61',
      'https://a.com/b',
    ])
      expect(faultsOf({ PATCHBAY_BASE_PATH: bad })).toEqual([
        `PATCHBAY_BASE_PATH must be a path such as /patchbay, not "${bad}"`,
      ]);
  });

  it('keeps each clock within its maximum', () => {
    expect(faultsOf({ PATCHBAY_EXECUTION_MS: '3600001' })).toHaveLength(1);
  });

  it('documents every variable once', () => {
    const names = describeVariables().map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(describeVariables().every(({ group, meaning }) => group !== '' && meaning.endsWith('.'))).toBe(
      true,
    );
  });

  it.each([
    ['PATCHBAY_REGISTATION', 'PATCHBAY_REGISTRATION'],
    ['PATCHBAY_REGISTRATIONS', 'PATCHBAY_REGISTRATION'],
    ['PATCHBAY_REGISTER', 'PATCHBAY_REGISTRATION'],
    ['PATCHBAY_DATADIR', 'PATCHBAY_DATA_DIR'],
    ['PATCHBAY_DATA_DIRECTORY', 'PATCHBAY_DATA_DIR'],
    ['PATCHBAY_ORIGIN', 'PATCHBAY_ORIGINS'],
    ['PATCHBAY_ROIGINS', 'PATCHBAY_ORIGINS'],
    ['PATCHBAY_RATE_LIMITING', 'PATCHBAY_RATE_LIMIT'],
    ['PATCHBAY_TRUSTED_PROXY', 'PATCHBAY_TRUSTED_PROXIES'],
    ['PATCHBAY_MONGO_URI', 'PATCHBAY_MONGODB_URI'],
    ['PATCHBAY_JWT_SECRET_FILES', 'PATCHBAY_JWT_SECRET_FILE'],
    ['patchbay_registration', 'PATCHBAY_REGISTRATION'],
    ['PATCHBY_REGISTRATION', 'PATCHBAY_REGISTRATION'],
  ])('does not start with %s, a typo of %s', (name, intended) => {
    expect(faultsOf({ [name]: 'closed' })).toEqual([
      `${name} is not a variable of the server; did you mean ${intended}?`,
    ]);
    expect(() => serverPlace({ [name]: 'closed' })).toThrow(intended);
    expect(unknownVariables({ [name]: 'closed' })).toEqual([]);
  });

  it('starts with variables of the client and of Compose, and reports variables that resemble none', () => {
    const others = [
      'URL',
      'TOKEN',
      'WORKSPACE',
      'CLIENT_ID',
      'HOME',
      'EMAIL',
      'PASSWORD',
      'PUBLISH',
      'MAX_FILE_BYTES',
    ];
    const env = Object.fromEntries(others.map((name) => [`PATCHBAY_${name}`, '9000000']));
    expect([faultsOf(env), unknownVariables(env)]).toEqual([[], []]);
    const unknown = { PATCHBAY_SOMETHING_ELSE: 'x', PATCHBAY_TOKENS: 'x', PATCHBAY_URI: 'x', PATH: 'x' };
    expect(faultsOf(unknown)).toEqual([]);
    expect(unknownVariables(unknown)).toEqual(['PATCHBAY_SOMETHING_ELSE', 'PATCHBAY_TOKENS', 'PATCHBAY_URI']);
  });

  it('requires enough memory for the largest accepted body', () => {
    expect(faultsOf({ PATCHBAY_MAX_BODY_BYTES: '300000000' })).toEqual([
      'PATCHBAY_MAX_BUFFER_BYTES must be 10 times PATCHBAY_MAX_BODY_BYTES at least',
    ]);
  });
});
