import { randomBytes, scrypt, type ScryptOptions, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

const BLOCK_SIZE = 8;
const PARALLEL = 1;
const KEY_BYTES = 32;
const SALT_BYTES = 16;

/**
 * A salted scrypt hash that records its own cost, so the cost can rise later. `logN`: log2 of the cost; each step
 * doubles time and memory, 15 takes 32 MiB.
 */
export async function hashPassword(password: string, logN: number): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  return formatHash(logN, salt, await deriveKey(password, salt, logN, BLOCK_SIZE, PARALLEL));
}

/** Whether the password matches the hash. Without a hash it takes as long as one of cost `today`, and returns false. */
export async function verifyPassword(password: string, hash: string | null, today: number): Promise<boolean> {
  const [, logN, blockSize, parallel, salt = '', key = ''] = (hash ?? unmatchableHash(today)).split('$');
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

/** A hash that no password matches. */
function unmatchableHash(logN: number): string {
  return formatHash(logN, Buffer.alloc(SALT_BYTES), Buffer.alloc(KEY_BYTES));
}

function formatHash(logN: number, salt: Buffer, key: Buffer): string {
  return ['scrypt', logN, BLOCK_SIZE, PARALLEL, salt.toString('base64'), key.toString('base64')].join('$');
}

function deriveKey(
  password: string,
  salt: Buffer,
  logN: number,
  blockSize: number,
  parallel: number,
): Promise<Buffer> {
  const cost = 2 ** logN;
  // Node's default limit is just below what this cost needs.
  const maxmem = 256 * cost * blockSize;
  return derive(password.normalize('NFC'), salt, KEY_BYTES, { N: cost, r: blockSize, p: parallel, maxmem });
}
