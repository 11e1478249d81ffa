import { accessSettings } from './access-settings.js';
import { connectionSettings } from './connection-settings.js';
import { CONSTANTS } from './constants.js';
import { EnvReader, type Environment, type VariableDoc } from './env-reader.js';
import { quotaSettings } from './quota-settings.js';
import { typosIn, unknownWithPrefix } from './unknown-variables.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const MIB = 1024 * 1024;
/** Open calls allowed per allowed open turn, of a workspace or user. */
const CALLS_PER_OPEN_TURN = 20;
const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

function serverSettings(env: EnvReader) {
  env.section('Server');
  return {
    port: env.integer('PORT', {
      default: 3000,
      min: 0,
      max: 65_535,
      meaning: 'Port to listen on; 0 selects a free one.',
    }),
    host: env.text('HOST', { default: '127.0.0.1', meaning: 'Address to listen on.' }),
    basePath: env.path('PATCHBAY_BASE_PATH', {
      meaning:
        'Path prefix of all URLs, such as `/patchbay`: the API, the relay, health, the API docs. A reverse proxy must ' +
        'pass it on unchanged.',
    }),
    dataDir: env.text('PATCHBAY_DATA_DIR', {
      default: './.patchbay',
      meaning: 'Directory of the embedded store; created if missing. Only one server at a time can use it.',
    }),
    ...databaseSettings(env),
    logLevel: env.oneOf('PATCHBAY_LOG_LEVEL', {
      default: 'info',
      values: LOG_LEVELS,
      meaning: `Lowest level that is logged: one of ${LOG_LEVELS.join(', ')}.`,
    }),
    catchUpMs: env.integer('PATCHBAY_CATCH_UP_MS', {
      default: 5_000,
      min: 100,
      max: 5_000,
      meaning:
        'How often a server looks in the store for changes that it was not told of, and renews the leases of its calls, ms. ' +
        'Servers that share MongoDB without a reachable Redis look for new commits every 250 ms instead.',
    }),
    apiDocs: env.oneOf('PATCHBAY_API_DOCS', {
      default: 'on',
      values: ['on', 'off'],
      meaning: '`on` shows the API document at `/api/docs`, without a login; `off` answers 404.',
    }),
    drainMs: env.integer('PATCHBAY_DRAIN_MS', {
      default: 10_000,
      min: 0,
      max: HOUR,
      meaning: 'How long work in progress may continue after SIGTERM before the server exits.',
    }),
  };
}

/** Where data is stored if not in the data directory, and how servers reach each other. */
function databaseSettings(env: EnvReader) {
  return {
    mongodbUri: env.secret('PATCHBAY_MONGODB_URI', {
      check: mongodbFault,
      requiredWith: null,
      meaning:
        'Stores all data in MongoDB instead, where several servers can share it: `mongodb://` or `mongodb+srv://`, with the ' +
        'name of the database. All servers need the same PATCHBAY_JWT_SECRET, and no data directory.',
      fileMeaning:
        'File that contains PATCHBAY_MONGODB_URI, for a URI with a password; trailing white space is ignored.',
    }),
    redisUrl: env.secret('PATCHBAY_REDIS_URL', {
      check: redisFault,
      requiredWith: null,
      meaning:
        'Redis 6 or later, through which servers that share MongoDB tell each other about commits: `redis://` or, with TLS, ' +
        '`rediss://`, such as `rediss://user:password@host:6379`. It stores nothing. While it is away, servers look in the ' +
        'database more often.',
      fileMeaning:
        'File that contains PATCHBAY_REDIS_URL, for a URL with a password; trailing white space is ignored.',
    }),
  };
}

/** The fault of a MongoDB URI, without any part of it: it may contain a password. */
function mongodbFault(uri: string): string | null {
  const isSound = /^mongodb(\+srv)?:\/\/[^/?\s]+\/[^/?\s]+(\?\S*)?$/.test(uri);
  return isSound ? null : 'must be a URI with a database, such as mongodb://host:27017/patchbay';
}

/** The fault of a Redis URL, without any part of it. */
function redisFault(text: string): string | null {
  const isSound = /^rediss?:\/\/[^\s?#]+$/i.test(text) && URL.canParse(text) && isUsable(new URL(text));
  return isSound ? null : 'must be a URL such as redis://host:6379 or rediss://user:password@host:6379';
}

function isUsable({ hostname, pathname, username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
  } catch {
    return false;
  }
  return hostname !== '' && /^(?:\/\d{0,3})?$/.test(pathname);
}

function limitSettings(env: EnvReader) {
  env.section('Limits');
  const integer = (name: string, value: number, min: number, max: number, meaning: string): number =>
    env.integer(name, { default: value, min, max, meaning });
  const bufferBytes = integer(
    'PATCHBAY_MAX_BUFFER_BYTES',
    1280 * MIB,
    5 * MIB,
    64 * 1024 * MIB,
    'Memory for data in transit, in bytes: two fifths for unread answers, one fifth each for arriving bodies, for ' +
      'relay events and for the input of worker jobs. One fifth must hold two bodies.',
  );
  const maxOpenTurns = integer(
    'PATCHBAY_MAX_OPEN_TURNS',
    1000,
    2,
    100_000,
    'Open turns per workspace. They may have 20 times as many calls in total.',
  );
  const maxUserOpenTurns = integer(
    'PATCHBAY_MAX_USER_OPEN_TURNS',
    500,
    1,
    100_000,
    'Open turns per user, over all workspaces. Must be less than PATCHBAY_MAX_OPEN_TURNS.',
  );
  return {
    ...{ maxOpenTurns, maxOpenCalls: CALLS_PER_OPEN_TURN * maxOpenTurns },
    ...{ maxUserOpenTurns, maxUserOpenCalls: CALLS_PER_OPEN_TURN * maxUserOpenTurns },
    maxBodyBytes: integer(
      'PATCHBAY_MAX_BODY_BYTES',
      16 * MIB,
      1024,
      512 * MIB,
      'Bytes of a request body or relay frame.',
    ),
    maxFileBytes: integer('PATCHBAY_MAX_FILE_BYTES', 8 * MIB, 1024, 512 * MIB, 'Bytes of one file.'),
    ...buffers(bufferBytes),
    maxCallsPerTurn: integer('PATCHBAY_MAX_CALLS_PER_TURN', 1000, 1, 10_000, 'Tool calls per turn.'),
    maxWaitMs: integer(
      'PATCHBAY_MAX_WAIT_MS',
      5 * MINUTE,
      0,
      HOUR,
      'Longest time that a request can wait for a turn, ms.',
    ),
    workers: integer(
      'PATCHBAY_WORKERS',
      2,
      1,
      64,
      'Worker threads for long work. With two or more, one user never occupies all of them.',
    ),
  };
}

function buffers(bytes: number) {
  const fifth = Math.floor(bytes / 5);
  return {
    /** Bytes of all bodies being received; one user may hold at most an eighth of the unused budget. */
    maxReceivingBytes: fifth,
    /** Bytes of all unread responses; one user may hold at most an eighth of the unused budget. */
    maxUnreadBytes: 2 * fifth,
    /** Bytes of all relay events that arrive, are handled or wait for their reader; one user may hold a quarter. */
    maxRelayBytes: fifth,
    /**
     * Input of all queued and running jobs, half of it for one job; one user may hold an eighth of the unused budget.
     */
    maxWorkBytes: fifth,
  };
}

function clockSettings(env: EnvReader) {
  env.section('Deadlines of a relayed call');
  const clock = (name: string, value: number, max: number, meaning: string): number =>
    env.integer(name, { default: value, min: 1, max, meaning });
  return {
    deliveryMs: clock(
      'PATCHBAY_DELIVERY_MS',
      5 * MINUTE,
      24 * HOUR,
      'From acceptance to acknowledgement, ms.',
    ),
    approvalMs: clock(
      'PATCHBAY_APPROVAL_MS',
      15 * MINUTE,
      24 * HOUR,
      'From acknowledgement to `running`, ms.',
    ),
    executionMs: clock('PATCHBAY_EXECUTION_MS', 2 * MINUTE, HOUR, 'From `running` to the result, ms.'),
    graceMs: env.integer('PATCHBAY_GRACE_MS', {
      default: 10_000,
      min: 0,
      max: HOUR,
      meaning: 'How long an unacknowledged call waits for its client to reconnect, ms.',
    }),
  };
}

function readSettings(env: EnvReader, production: boolean) {
  const server = serverSettings(env);
  // Servers that share a database need one secret: a generated one would reject the tokens of the others.
  const secretRequiredWith = server.mongodbUri === null ? null : 'PATCHBAY_MONGODB_URI';
  const settings = {
    ...server,
    ...accessSettings(env, production ? 'NODE_ENV=production' : secretRequiredWith),
    ...connectionSettings(env),
    ...limitSettings(env),
    ...quotaSettings(env),
    ...clockSettings(env),
    ...CONSTANTS,
  };
  if (settings.maxWorkBytes < 2 * settings.maxBodyBytes)
    env.faults.push('PATCHBAY_MAX_BUFFER_BYTES must be 10 times PATCHBAY_MAX_BODY_BYTES at least');
  // One user must not be able to use up the limit of a workspace.
  if (settings.maxUserOpenTurns >= settings.maxOpenTurns)
    env.faults.push('PATCHBAY_MAX_USER_OPEN_TURNS must be less than PATCHBAY_MAX_OPEN_TURNS');
  return settings;
}

export type Settings = Readonly<ReturnType<typeof readSettings>>;

/** Gives `Config` the settings as typed, read-only fields without naming each twice. */
const SettingsHolder = class {
  constructor(settings: Settings) {
    Object.assign(this, settings);
  }
} as new (settings: Settings) => Settings;

/** The server's configuration: inject it and read its fields. */
export class Config extends SettingsHolder {
  /** Reads the environment; throws one ConfigError that names every invalid variable. */
  static load(env: Environment = process.env): Config {
    const reader = new EnvReader(env);
    const settings = readSettings(reader, env.NODE_ENV === 'production');
    reader.faults.push(...typosIn(env, namesOfVariables()));
    if (reader.faults.length > 0) throw new ConfigError(reader.faults);
    return new Config(settings);
  }

  /** The defaults with some settings replaced, independent of the environment; for tests and embedding. */
  static with(overrides: Partial<Settings>): Config {
    return new Config({ ...readSettings(new EnvReader({}), false), ...overrides });
  }
}

/** Thrown at boot; its message is for the operator. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly faults: readonly string[]) {
    super(`bad configuration: ${faults.join('; ')}`);
  }
}

/** What commands other than the server need: where it listens and where its data is. Throws ConfigError. */
export function serverPlace(
  env: Environment = process.env,
): Pick<Settings, 'port' | 'host' | 'basePath' | 'dataDir' | 'mongodbUri'> {
  const reader = new EnvReader(env);
  const settings = serverSettings(reader);
  reader.faults.push(...typosIn(env, namesOfVariables()));
  if (reader.faults.length > 0) throw new ConfigError(reader.faults);
  return settings;
}

/** Every variable that the server reads; the source of `docs/config.md`. */
export function describeVariables(): VariableDoc[] {
  const reader = new EnvReader({});
  readSettings(reader, false);
  return reader.docs;
}

/** Variables with the prefix that are unknown to the server and not similar to any of its own. */
export function unknownVariables(env: Environment = process.env): string[] {
  return unknownWithPrefix(env, namesOfVariables());
}

function namesOfVariables(): string[] {
  return describeVariables().map(({ name }) => name);
}
