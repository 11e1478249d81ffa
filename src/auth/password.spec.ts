import { hashPassword, verifyPassword } from './password.js';

const CHEAP = 4;
const HIGHER_COST = 5;

describe('A hashed password', () => {
  it('differs from every other password, and has its own salt', async () => {
    const hash = await hashPassword('correct horse', CHEAP);
    expect(await verifyPassword('correct horse', hash, CHEAP)).toBe(true);
    expect(await verifyPassword('correct hors', hash, CHEAP)).toBe(false);
    expect(await hashPassword('correct horse', CHEAP)).not.toBe(hash);
  });

  it('records its cost, so it stays valid after the default cost changes', async () => {
    const hash = await hashPassword('correct horse', CHEAP);
    expect(hash).toMatch(/^scrypt\$4\$8\$1\$/);
    expect(await hashPassword('correct horse', HIGHER_COST)).toMatch(/^scrypt\$5\$/);
    expect(await verifyPassword('correct horse', hash, HIGHER_COST)).toBe(true);
    expect(await verifyPassword('correct horse', hash.replace('$4$', '$5$'), CHEAP)).toBe(false);
  });

  it('matches every Unicode form of the password', async () => {
    const hash = await hashPassword('caf\u00e9', CHEAP);
    expect(await verifyPassword('cafe\u0301', hash, CHEAP)).toBe(true);
  });

  it('that is missing matches no password', async () => {
    expect(await verifyPassword('', null, CHEAP)).toBe(false);
  });
});
