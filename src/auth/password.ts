import { randomBytes, scrypt, type ScryptOptions, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

const LOG_N = 15;
const BLOCK_SIZE = 8;
const PARALLEL = 1;
const KEY_BYTES = 32;
const SALT_BYTES = 16;

/** A salted scrypt hash that names its own cost, so that the cost can rise without breaking older hashes. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await deriveKey(password, salt, LOG_N, BLOCK_SIZE, PARALLEL);
  return ['scrypt', LOG_N, BLOCK_SIZE, PARALLEL, salt.toString('base64'), key.toString('base64')].join('$');
}

/** Whether the password is the one that was hashed. Without a hash it takes as long and says no. */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  const [, logN, blockSize, parallel, salt = '', key = ''] = (hash ?? NOBODY).split('$');
  const expected = Buffer.from(key, 'base64');
  const actual = await deriveKey(
    password,
    Buffer.from(salt, 'base64'),
    Number(logN),
    Number(blockSize),
    Number(parallel),
  );
  return timingSafeEqual(actual, expected) && hash !== null;
}

/** A hash that no password has, of today's cost. */
const NOBODY = [
  'scrypt',
  LOG_N,
  BLOCK_SIZE,
  PARALLEL,
  Buffer.alloc(SALT_BYTES).toString('base64'),
  Buffer.alloc(KEY_BYTES).toString('base64'),
].join('$');

function deriveKey(
  password: string,
  salt: Buffer,
  logN: number,
  blockSize: number,
  parallel: number,
): Promise<Buffer> {
  const cost = 2 ** logN;
  // Node's own limit is just below what this cost needs.
  const maxmem = 256 * cost * blockSize;
  return derive(password.normalize('NFC'), salt, KEY_BYTES, { N: cost, r: blockSize, p: parallel, maxmem });
}
