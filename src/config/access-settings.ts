import { isIP } from 'node:net';
import type { EnvReader } from './env-reader.js';

const REGISTRATIONS = ['open', 'first', 'closed'] as const;

/** Who may use the server, and how often. `secretRequiredWith`: the setting that rules out a generated secret. */
export function accessSettings(env: EnvReader, secretRequiredWith: string | null) {
  env.section('Access');
  return {
    jwtSecret: env.secret('PATCHBAY_JWT_SECRET', {
      check: (value) => (value.length < 32 ? 'must have at least 32 characters' : null),
      requiredWith: secretRequiredWith,
      defaultText: 'generated in the data directory',
      meaning:
        'Secret that signs access tokens, at least 32 characters. It, or the file, is required with NODE_ENV=production and on MongoDB.',
      fileMeaning:
        'File that contains PATCHBAY_JWT_SECRET. It is read at the start; trailing white space is ignored.',
    }),
    accessTokenMinutes: env.integer('PATCHBAY_ACCESS_TOKEN_MINUTES', {
      default: 15,
      min: 1,
      max: 24 * 60,
      meaning: 'Lifetime of an access token.',
    }),
    refreshTokenDays: env.integer('PATCHBAY_REFRESH_TOKEN_DAYS', {
      default: 30,
      min: 1,
      max: 365,
      meaning: 'Lifetime of a refresh token. Each refresh starts it again.',
    }),
    passwordCost: env.integer('PATCHBAY_PASSWORD_COST', {
      default: 15,
      min: 14,
      max: 20,
      meaning:
        "Cost of checking a password: the exponent of scrypt's N, for passwords that are set from now on. Each step " +
        'doubles the time and the memory of a login; 15 needs 32 MiB.',
    }),
    origins: env.list('PATCHBAY_ORIGINS', {
      check: originFault,
      meaning:
        "Origins of web pages that may use the API and the relay, besides the server's own. Separated by commas.",
    }),
    rateLimit: env.integerOrOff('PATCHBAY_RATE_LIMIT', {
      default: 3000,
      min: 1,
      max: 10_000_000,
      meaning:
        'Writes per minute of a member in one workspace. Reads may be ten times as many. A user may have twice as many over all workspaces. ' +
        '`off` disables all rate limits except that on wrong passwords.',
    }),
    registration: env.oneOf('PATCHBAY_REGISTRATION', {
      default: 'first',
      values: REGISTRATIONS,
      meaning:
        'Who may register: `first` only the first account; `open` anybody who reaches the ' +
        'server; `closed` nobody.',
    }),
    trustedProxies: env.list('PATCHBAY_TRUSTED_PROXIES', {
      check: proxyFault,
      meaning:
        'Reverse proxies in front of the server: addresses or CIDR, separated by commas. Only from these is X-Forwarded-For ' +
        'trusted. Otherwise all users behind a proxy share the limits of its address.',
    }),
  };
}

function originFault(origin: string): string | null {
  const url = URL.canParse(origin) ? new URL(origin) : null;
  return url?.origin === origin ? null : 'is not an origin such as https://app.example.com';
}

function proxyFault(proxy: string): string | null {
  const [address = '', bits, ...more] = proxy.split('/');
  const family = isIP(address);
  const isRange = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
  return family !== 0 && isRange && more.length === 0 ? null : 'is not an address or CIDR such as 10.0.0.0/8';
}
