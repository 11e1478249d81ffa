import { MoveError } from './move/records.js';
import { naming, shownUri } from './migration.js';

const URI = 'mongodb://bob:p%40ss@db.example.com/patchbay?tls=true';

describe('what is told of a database', () => {
  it('is where it is, without who logs in there and how', () => {
    expect(shownUri(URI)).toBe('mongodb://db.example.com/patchbay');
  });

  it('holds no password, in whichever spelling a driver has it', async () => {
    const fault = new Error(`no bob:p%40ss, p%40ss or p@ss at ${URI}`);
    const told = await naming(URI, () => Promise.reject(fault)).catch((error: Error) => error.message);
    expect(told).toBe('no …, … or … at mongodb://db.example.com/patchbay');
  });

  it('says with a fault of the move which database it was', async () => {
    const failing = naming(URI, () => Promise.reject(new MoveError('not the same')));
    await expect(failing).rejects.toThrow('not the same (mongodb://db.example.com/patchbay)');
  });
});
