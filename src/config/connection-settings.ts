import type { EnvReader } from './env-reader.js';

/** How many connections may be open, in total and per owner. */
export function connectionSettings(env: EnvReader) {
  env.section('Connections');
  const integer = (name: string, value: number, min: number, max: number, meaning: string): number =>
    env.integer(name, { default: value, min, max, meaning });
  return {
    maxConnections: integer(
      'PATCHBAY_MAX_CONNECTIONS',
      10_000,
      10,
      1_000_000,
      'Open connections in total. At the limit a new connection replaces the longest idle one.',
    ),
    maxAddressConnections: integer(
      'PATCHBAY_MAX_ADDRESS_CONNECTIONS',
      1000,
      1,
      1_000_000,
      'Open connections per address. An IPv6 /64 counts as one address; a /48 may have four times as many.',
    ),
    maxAddressUnauthenticated: integer(
      'PATCHBAY_MAX_ADDRESS_UNAUTHENTICATED',
      250,
      1,
      1_000_000,
      'Websockets per address whose token has not been checked yet.',
    ),
    maxUserSockets: integer('PATCHBAY_MAX_USER_SOCKETS', 100, 1, 100_000, 'Connected clients per user.'),
    maxWorkspaceSockets: integer(
      'PATCHBAY_MAX_WORKSPACE_SOCKETS',
      1000,
      1,
      100_000,
      'Connected clients per workspace.',
    ),
  };
}
