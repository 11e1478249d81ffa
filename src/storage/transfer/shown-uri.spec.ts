import { TransferError } from './records.js';
import { naming, shownUri } from './shown-uri.js';

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

  it('names the database in a fault of a transfer', async () => {
    const failing = naming(URI, () => Promise.reject(new TransferError('not the same')));
    await expect(failing).rejects.toThrow('not the same (mongodb://db.example.com/patchbay)');
  });
});
