import { hashPassword, verifyPassword } from './password.js';

const CHEAP = 4;
const HIGHER_COST = 5;

describe('A hashed password', () => {
  it('is told from any other, and has a salt of its own', async () => {
    const hash = await hashPassword('correct horse', CHEAP);
    expect(await verifyPassword('correct horse', hash, CHEAP)).toBe(true);
    expect(await verifyPassword('correct hors', hash, CHEAP)).toBe(false);
    expect(await hashPassword('correct horse', CHEAP)).not.toBe(hash);
  });

  it('names its cost, so that it is still right when the cost of new ones has changed', async () => {
    const hash = await hashPassword('correct horse', CHEAP);
    expect(hash).toMatch(/^scrypt\$4\$8\$1\$/);
    expect(await hashPassword('correct horse', HIGHER_COST)).toMatch(/^scrypt\$5\$/);
    expect(await verifyPassword('correct horse', hash, HIGHER_COST)).toBe(true);
    expect(await verifyPassword('correct horse', hash.replace('$4$', '$5$'), CHEAP)).toBe(false);
  });

  it('is the same in every Unicode form', async () => {
    const hash = await hashPassword('caf\u00e9', CHEAP);
    expect(await verifyPassword('cafe\u0301', hash, CHEAP)).toBe(true);
  });

  it('is right for nobody where there is none', async () => {
    expect(await verifyPassword('', null, CHEAP)).toBe(false);
  });
});
