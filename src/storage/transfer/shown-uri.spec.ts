import { TransferError } from './records.js';
import { nameDatabase, shownUri } from './shown-uri.js';

const URI = 'mongodb://bob:p%40ss@db.example.com/patchbay?tls=true';

describe('an error about a database', () => {
  it('shows its location without credentials', () => {
    expect(shownUri(URI)).toBe('mongodb://db.example.com/patchbay');
  });

  it('contains no password, however the driver spells it', async () => {
    const fault = new Error(`no bob:p%40ss, p%40ss or p@ss at ${URI}`);
    const message = await nameDatabase(URI, () => Promise.reject(fault)).catch(
      (error: Error) => error.message,
    );
    expect(message).toBe('no …, … or … at mongodb://db.example.com/patchbay');
  });

  it('names the database of a failed transfer', async () => {
    const failing = nameDatabase(URI, () => Promise.reject(new TransferError('not the same')));
    await expect(failing).rejects.toThrow('not the same (mongodb://db.example.com/patchbay)');
  });
});
