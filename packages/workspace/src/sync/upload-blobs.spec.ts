import { PatchbayError, type WorkspaceFiles } from '@patchbay/client';
import { type Blob, uploadMissing } from './upload-blobs.js';

const blob = (sha256: string, sizeBytes = 1): Blob => ({ sha256, bytes: new Uint8Array(sizeBytes) });
const LARGE = 2 * 1024 * 1024;

/** A server that has `held` and accepts at most `limit` bytes per request. */
class Blobs {
  readonly requests: string[] = [];
  constructor(
    private readonly held: string[] = [],
    private readonly limit = Infinity,
  ) {}

  async missingBlobs(sha256s: readonly string[]): Promise<string[]> {
    this.requests.push(`missing ${sha256s.join(' ')}`);
    return sha256s.filter((digest) => !this.held.includes(digest));
  }

  async putBlobs(blobs: readonly Uint8Array[]): Promise<void> {
    this.requests.push(`pack of ${blobs.length}`);
    this.check(blobs.reduce((size, { length }) => size + length, 0));
  }

  async putBlob(digest: string, { length }: Uint8Array): Promise<void> {
    this.requests.push(`put ${digest}`);
    this.check(length);
  }

  private check(size: number): void {
    if (size > this.limit) throw new PatchbayError('TOO_LARGE', 'Too large.', 413);
  }
}

const upload = (server: Blobs, ...blobs: Blob[]) => uploadMissing(server as unknown as WorkspaceFiles, blobs);

describe('an upload of blobs', () => {
  it('sends each missing blob once, small ones together and large ones alone', async () => {
    const server = new Blobs(['held']);
    const { wireBytes, tooLarge } = await upload(
      server,
      blob('a'),
      blob('held'),
      blob('b'),
      blob('a'),
      blob('L', LARGE),
    );
    expect(server.requests).toEqual(['missing a held b L', 'pack of 2', 'put L']);
    expect([wireBytes, tooLarge.size]).toEqual([LARGE + 2, 0]);
  });

  it('sends nothing if nothing is missing', async () => {
    const server = new Blobs(['a']);
    await upload(server, blob('a'));
    expect(server.requests).toEqual(['missing a']);
  });

  it('sends blobs one by one if they exceed the request limit together, and reports those that exceed it alone', async () => {
    const server = new Blobs([], 10);
    const { wireBytes, tooLarge } = await upload(server, blob('a', 8), blob('b', 9), blob('c', 11));
    expect(server.requests).toEqual(['missing a b c', 'pack of 3', 'put a', 'put b', 'put c']);
    expect([wireBytes, [...tooLarge]]).toEqual([17, ['c']]);
  });

  it('fails if the quota is full, without trying smaller requests', async () => {
    const server = new Blobs();
    const message =
      'The workspace has 9 stored bytes, of 10. An operator can raise PATCHBAY_MAX_STORED_BYTES.';
    server.putBlobs = async () => Promise.reject(new PatchbayError('TOO_LARGE', message, 413));
    await expect(upload(server, blob('a'), blob('b'))).rejects.toMatchObject({ message });
    expect(server.requests).toEqual(['missing a b']);
  });

  it('fails with any other error', async () => {
    const server = new Blobs();
    server.putBlobs = async () => Promise.reject(new PatchbayError('FORBIDDEN', 'No.', 403));
    await expect(upload(server, blob('a'))).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });
});
