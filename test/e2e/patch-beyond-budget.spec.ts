import { jest } from '@jest/globals';
import { sha256 } from '@patchbay/protocol/hash';
import { storesOf } from '../contract/backends.js';
import { testFixture } from '../support/fixtures.js';
import { appliedResult, patchCall } from '../support/patch-fixture.js';
import { RelayFixture } from '../support/relay-fixture.js';

const KIB = 1024;
const INSERT = { operation: 'insert', afterLine: 1, newLines: ['x'] };

/** Texts that came into the Cloud only after the batch was taken, and are too much together [PATCH-13]. */
describe('a batch beyond the budget of texts', () => {
  const names = ['a', 'b', 'c'];
  let texts: Record<string, string>;
  const fixture = testFixture(() => RelayFixture.start({ maxPatchBytes: 50 * KIB }));
  beforeEach(() => {
    texts = Object.fromEntries(names.map((name) => [`p/${name}`, `${name.repeat(30 * KIB)}\n`]));
  });

  /** What is there of the texts from here on, and what stands behind them. */
  async function upload(end: string): Promise<void> {
    for (const [docPath, text] of Object.entries(texts)) {
      const path = `/workspaces/${fixture.workspaceId}/contents/${docPath}`;
      expect((await fixture.user.request('PUT', path, Buffer.from(text + end))).status).toBeLessThan(300);
    }
  }

  async function carriedOut() {
    const client = await fixture.client({ tools: ['workspace_write_patch'] });
    const files = Object.entries(texts).map(([docPath, text]) => {
      return { docPath, sha: sha256(text), changes: [INSERT] };
    });
    const { turnId } = (await fixture.post([patchCall(files)])).body.result;
    const call = await client.delivery();
    await upload('');
    const result = appliedResult(call.batch!, texts, []);
    expect(await client.report(call, { result })).toMatchObject({ ok: true });
    return { batchId: call.batch!.batchId!, ended: (await fixture.get(turnId, 5_000)).body };
  }

  it('is accepted as its client reports it, with a warning UNCHECKED for the unchecked files', async () => {
    const { ended } = await carriedOut();
    expect(ended.result.toolResults).toMatchObject([{ status: 'succeeded' }]);
    const unchecked = JSON.stringify(ended).match(/UNCHECKED/g) ?? [];
    expect(unchecked).toHaveLength(2);
  });

  it('is not read beyond the budget', async () => {
    const read = jest.spyOn(storesOf(fixture.server.app).blobs, 'read');
    await carriedOut();
    expect(read).toHaveBeenCalledTimes(2);
  });

  it('counts a shared text once for each of its files', async () => {
    texts = Object.fromEntries(names.map((name) => [`p/${name}`, `${'x'.repeat(30 * KIB)}\n`]));
    const { ended } = await carriedOut();
    expect(JSON.stringify(ended).match(/UNCHECKED/g)).toHaveLength(3);
  });

  it('is not reverted, and the answer says that it is too large', async () => {
    const { batchId } = await carriedOut();
    await upload('x\n');
    const path = `/workspaces/${fixture.workspaceId}/patches/${batchId}/revert`;
    const { sessionId } = fixture.session;
    expect(await fixture.user.post(path, { sessionId, waitMs: 0 })).toMatchObject({
      status: 413,
      body: { code: 'TOO_LARGE', error: expect.stringContaining('the limit is 51200') as string },
    });
  });
});
