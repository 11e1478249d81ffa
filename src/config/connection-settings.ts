import type { EnvReader } from './env-reader.js';

const HOUR = 60 * 60_000;
const MIB = 1024 * 1024;

/** What connections may hold, and for how long. */
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
      'Open connections in all. One that is idle makes room for a new one.',
    ),
    maxAddressConnections: integer(
      'PATCHBAY_MAX_ADDRESS_CONNECTIONS',
      1000,
      1,
      1_000_000,
      'The same of one address; of IPv6 a /64 counts as one, and a /48 may have four times as much.',
    ),
    maxAddressStrangers: integer(
      'PATCHBAY_MAX_ADDRESS_STRANGERS',
      250,
      1,
      1_000_000,
      'Websockets of one address whose token was not checked yet.',
    ),
    maxUserSockets: integer('PATCHBAY_MAX_USER_SOCKETS', 100, 1, 100_000, 'Relay clients of one user.'),
    maxWorkspaceSockets: integer(
      'PATCHBAY_MAX_WORKSPACE_SOCKETS',
      1000,
      1,
      100_000,
      'Relay clients of one workspace.',
    ),
    answerMs: integer(
      'PATCHBAY_ANSWER_MS',
      30_000,
      100,
      HOUR,
      'How long an answer may wait for its reader, ms, and a second more for each 64 KiB of it.',
    ),
    maxUnreadBytes: integer(
      'PATCHBAY_MAX_UNREAD_BYTES',
      512 * MIB,
      MIB,
      16 * 1024 * MIB,
      'Answers that were not read yet, in all; one user has an eighth of what others leave at most.',
    ),
    maxRelayBytes: integer(
      'PATCHBAY_MAX_RELAY_BYTES',
      256 * MIB,
      MIB,
      16 * 1024 * MIB,
      'Relay events that arrive, are in hand, or wait for their reader, in all; one user has a quarter at most.',
    ),
  };
}
