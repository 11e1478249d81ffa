import { Config, ConfigError, describeVariables, unknownVariables } from './config.js';

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
  it('works from an empty environment, with the limits of the protocol [TURN-1] [TURN-4] [TURN-10]', () => {
    expect(Config.load({})).toMatchObject({
      port: 3000,
      host: '127.0.0.1',
      dataDir: './.patchbay',
      jwtSecret: null,
      origins: [],
      rateLimit: 3000,
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

  it('takes what is set, and empty as unset', () => {
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

  it('demands a secret in production, and never shows one', () => {
    expect(faultsOf({ NODE_ENV: 'production' })).toEqual([
      'PATCHBAY_JWT_SECRET is required with NODE_ENV=production',
    ]);
    expect(faultsOf({ NODE_ENV: 'production', PATCHBAY_JWT_SECRET: SECRET })).toEqual([]);
    expect(faultsOf({ PATCHBAY_JWT_SECRET: 'hunter2' }).join()).not.toContain('hunter2');
  });

  it('keeps each clock within its maximum', () => {
    expect(faultsOf({ PATCHBAY_EXECUTION_MS: '3600001' })).toHaveLength(1);
    expect(faultsOf({ PATCHBAY_EXECUTION_MS: '60000', PATCHBAY_MAX_EXECUTION_MS: '59999' })).toEqual([
      'PATCHBAY_EXECUTION_MS must not exceed PATCHBAY_MAX_EXECUTION_MS',
    ]);
  });

  it('documents every variable once', () => {
    const names = describeVariables().map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(describeVariables().every(({ group, meaning }) => group !== '' && meaning.endsWith('.'))).toBe(
      true,
    );
  });

  it('spots variables that look misspelt, but not those of the client', () => {
    const env = { PATCHBAY_DATADIR: 'x', PATCHBAY_URL: 'x', PATCHBAY_MAX_FILE_BYTES: '1', PATH: 'x' };
    expect(unknownVariables(env)).toEqual(['PATCHBAY_DATADIR']);
  });
});
