import { EnvReader, type Environment, type VariableDoc } from './env-reader.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const KIB = 1024;
const MIB = 1024 * KIB;
const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

/** Variables of the same prefix that belong to the client; a server started from the same shell ignores them. */
const CLIENT_VARIABLES = [
  'PATCHBAY_URL',
  'PATCHBAY_TOKEN',
  'PATCHBAY_WORKSPACE',
  'PATCHBAY_CLIENT_ID',
  'PATCHBAY_HOME',
];

function serverSettings(env: EnvReader) {
  env.section('Server');
  return {
    port: env.integer('PORT', { default: 3000, min: 0, max: 65_535, meaning: 'Port; 0 takes a free one.' }),
    host: env.text('HOST', { default: '127.0.0.1', meaning: 'Address to listen on.' }),
    dataDir: env.text('PATCHBAY_DATA_DIR', {
      default: './.patchbay',
      meaning: 'Directory of the embedded store; made where it is missing. One server at a time.',
    }),
    logLevel: env.oneOf('PATCHBAY_LOG_LEVEL', {
      default: 'info',
      values: LOG_LEVELS,
      meaning: `One of ${LOG_LEVELS.join(', ')}.`,
    }),
    drainMs: env.integer('PATCHBAY_DRAIN_MS', {
      default: 10_000,
      min: 0,
      max: HOUR,
      meaning: 'After SIGTERM: how long work in flight may take before the server exits anyway.',
    }),
  };
}

function accessSettings(env: EnvReader, production: boolean) {
  env.section('Access');
  return {
    jwtSecret: env.secret('PATCHBAY_JWT_SECRET', {
      minLength: 32,
      required: production,
      defaultText: 'generated into the data directory',
      meaning: 'Signs access tokens; at least 32 characters. Required with NODE_ENV=production.',
    }),
    accessTokenMinutes: env.integer('PATCHBAY_ACCESS_TOKEN_MINUTES', {
      default: 15,
      min: 1,
      max: 24 * 60,
      meaning: 'Life of an access token.',
    }),
    refreshTokenDays: env.integer('PATCHBAY_REFRESH_TOKEN_DAYS', {
      default: 30,
      min: 1,
      max: 365,
      meaning: 'Life of a refresh token; each refresh starts it anew.',
    }),
    origins: env.list('PATCHBAY_ORIGINS', {
      check: originFault,
      meaning:
        "Origins of browser pages that may use the API and the relay beside the server's own, separated by commas.",
    }),
    rateLimit: env.integerOrOff('PATCHBAY_RATE_LIMIT', {
      default: 3000,
      min: 1,
      max: 10_000_000,
      meaning: 'Writes a minute for each member; ten times as many reads. `off` ends all rate limits.',
    }),
  };
}

function limitSettings(env: EnvReader) {
  env.section('Limits');
  const integer = (name: string, value: number, min: number, max: number, meaning: string): number =>
    env.integer(name, { default: value, min, max, meaning });
  return {
    maxBodyBytes: integer('PATCHBAY_MAX_BODY_BYTES', 16 * MIB, 1024, 512 * MIB, 'Body or relay frame.'),
    maxFileBytes: integer('PATCHBAY_MAX_FILE_BYTES', 8 * MIB, 1024, 512 * MIB, 'One file.'),
    maxCallsPerTurn: integer('PATCHBAY_MAX_CALLS_PER_TURN', 1000, 1, 10_000, 'Tool calls of one turn.'),
    maxPatchFiles: integer('PATCHBAY_MAX_PATCH_FILES', 10_000, 1, 100_000, 'Files of one patch batch.'),
    maxOpenTurns: integer('PATCHBAY_MAX_OPEN_TURNS', 1000, 1, 100_000, 'Open turns of one workspace.'),
    maxWaitMs: integer(
      'PATCHBAY_MAX_WAIT_MS',
      5 * MINUTE,
      0,
      HOUR,
      'Most that a request may wait for a turn.',
    ),
    contextBytes: integer(
      'PATCHBAY_CONTEXT_BYTES',
      64 * KIB,
      8 * KIB,
      16 * MIB,
      'Most that the context of a session may have.',
    ),
  };
}

function clockSettings(env: EnvReader) {
  env.section('Clocks of a relayed call');
  const clock = (name: string, value: number, max: number, meaning: string): number =>
    env.integer(name, { default: value, min: 1, max, meaning });
  return {
    deliveryMs: clock('PATCHBAY_DELIVERY_MS', 5 * MINUTE, 24 * HOUR, 'Acceptance to acknowledgement, ms.'),
    approvalMs: clock('PATCHBAY_APPROVAL_MS', 15 * MINUTE, 24 * HOUR, 'Acknowledgement to running, ms.'),
    executionMs: clock('PATCHBAY_EXECUTION_MS', 2 * MINUTE, HOUR, 'Running to the result, ms.'),
    maxDeliveryMs: clock(
      'PATCHBAY_MAX_DELIVERY_MS',
      24 * HOUR,
      30 * 24 * HOUR,
      'Most that a turn may ask for.',
    ),
    maxApprovalMs: clock(
      'PATCHBAY_MAX_APPROVAL_MS',
      24 * HOUR,
      30 * 24 * HOUR,
      'Most that a turn may ask for.',
    ),
    maxExecutionMs: clock('PATCHBAY_MAX_EXECUTION_MS', HOUR, 24 * HOUR, 'Most that a turn may ask for.'),
    graceMs: env.integer('PATCHBAY_GRACE_MS', {
      default: 10_000,
      min: 0,
      max: HOUR,
      meaning: 'How long a call that was not acknowledged waits for its client to return, ms.',
    }),
  };
}

function readSettings(env: EnvReader, production: boolean) {
  const settings = {
    ...serverSettings(env),
    ...accessSettings(env, production),
    ...limitSettings(env),
    ...clockSettings(env),
  };
  const atMost = (name: string, value: number, maximum: number): void => {
    if (value > maximum) env.faults.push(`PATCHBAY_${name}_MS must not exceed PATCHBAY_MAX_${name}_MS`);
  };
  atMost('DELIVERY', settings.deliveryMs, settings.maxDeliveryMs);
  atMost('APPROVAL', settings.approvalMs, settings.maxApprovalMs);
  atMost('EXECUTION', settings.executionMs, settings.maxExecutionMs);
  return settings;
}

export type Settings = Readonly<ReturnType<typeof readSettings>>;

/** Gives `Config` the settings as typed, read-only fields without naming each a second time. */
const SettingsHolder = class {
  constructor(settings: Settings) {
    Object.assign(this, settings);
  }
} as new (settings: Settings) => Settings;

/** The server's configuration: inject it and read its fields. */
export class Config extends SettingsHolder {
  /** From the environment; throws one ConfigError that names every bad variable. */
  static load(env: Environment = process.env): Config {
    const reader = new EnvReader(env);
    const settings = readSettings(reader, env.NODE_ENV === 'production');
    if (reader.faults.length > 0) throw new ConfigError(reader.faults);
    return new Config(settings);
  }

  /** The defaults with some settings replaced, whatever the environment says; for tests and embedding. */
  static with(overrides: Partial<Settings>): Config {
    return new Config({ ...readSettings(new EnvReader({}), false), ...overrides });
  }
}

/** Raised at boot; its message is for the person who starts the server. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly faults: readonly string[]) {
    super(`bad configuration: ${faults.join('; ')}`);
  }
}

/** Every variable that the server reads; `docs/config.md` is generated from it. */
export function describeVariables(): VariableDoc[] {
  const reader = new EnvReader({});
  readSettings(reader, false);
  return reader.docs;
}

/** Variables that look meant for the server and are not known to it: likely misspelt. */
export function unknownVariables(env: Environment = process.env): string[] {
  const known = new Set([...describeVariables().map((variable) => variable.name), ...CLIENT_VARIABLES]);
  return Object.keys(env).filter((name) => name.startsWith('PATCHBAY_') && !known.has(name));
}

function originFault(origin: string): string | null {
  const url = URL.canParse(origin) ? new URL(origin) : null;
  return url?.origin === origin ? null : 'is not an origin such as https://app.example.com';
}
