import { sha256 } from '@patchbay/protocol/hash';
import { testFixture } from '../support/fixtures.js';
import { readTrail } from '../support/invariants.js';
import { appliedResult, DOC, patchCall, PatchFixture, replaceTwo, TEXT } from '../support/patch-fixture.js';
import { oneServer } from '../support/server.js';

const KIB = 1024;
const APPROVAL = { by: 'ada', at: '2025-06-01T12:00:00Z' };
const FOUR = { operation: 'insert', afterLine: 3, newLines: ['four'] };

describe('the diff of a batch', () => {
  const setup = new PatchFixture(oneServer({ maxBodyBytes: 4 * KIB }));
  const { write, put, base } = setup;
  const fixture = testFixture(() => setup.open());
  const client = testFixture(() => setup.client);

  const diff = (batchId: string, filePatchId?: string) => {
    const query = filePatchId === undefined ? '' : `?filePatchId=${filePatchId}`;
    return fixture.user.get<string>(`${base()}/patches/${batchId}/diff${query}`);
  };
  const proposed = async (files: Parameters<typeof patchCall>[0]) => {
    await fixture.post([patchCall(files)]);
    const call = await client.delivery();
    return { call, batchId: call.batch!.batchId!, files: call.batch!.files };
  };

  it('shows applied changes and no rejected ones, which are no divergence', async () => {
    await write('/repo/src/a.txt', TEXT);
    const { call, batchId, files } = await proposed([{ changes: [replaceTwo(), FOUR] }]);
    const text = 'one\nTWO\nthree\n';
    const uploaded = await put(call, 0, text);
    if (!uploaded.ok) throw new Error(uploaded.error.message);
    const result = appliedResult(call.batch!, { [DOC]: TEXT }, [uploaded.versionId]);
    result.files[0]!.newSha256 = sha256(text);
    result.files[0]!.changes[1]!.status = 'rejected';
    const approval = {
      ...APPROVAL,
      decision: 'allow',
      rejectedChangeIds: [files[0]!.changes[1]!.changeId!],
    };
    expect(await client.report(call, { result, approval })).toEqual({ ok: true });
    const { body } = await diff(batchId);
    expect(body).toContain('-two\n+TWO\n');
    expect(body).not.toContain('four');
    expect(await readTrail(fixture.user, fixture.workspaceId, '&event=Tool.WritePatch.Diverged')).toEqual([]);
  });

  it('shows the changes as edited by a person', async () => {
    await write('/repo/src/a.txt', TEXT);
    const { call, batchId } = await proposed([{}]);
    const result = appliedResult(call.batch!, { [DOC]: TEXT }, []);
    result.files[0]!.newSha256 = sha256('one\n2\nthree\n');
    const editedArguments = patchCall([{ changes: [replaceTwo({ newLines: ['2'] })] }]).arguments;
    const approval = { ...APPROVAL, decision: 'edit', editedArguments };
    expect(await client.report(call, { result, approval })).toEqual({ ok: true });
    expect((await diff(batchId)).body).toContain('-two\n+2\n');
  });

  it('lists the files in their order, whichever share a text', async () => {
    const other = 'one\ntwo\nfour\n';
    const files = { 'p/a': TEXT, 'p/b': other, 'p/c': TEXT };
    for (const [path, text] of Object.entries(files)) await write(`/${path}`, text);
    const { batchId } = await proposed(
      Object.entries(files).map(([docPath, text]) => ({ docPath, sha: sha256(text) })),
    );
    const { body } = await diff(batchId);
    expect(body.match(/^--- .*$/gm)).toEqual(['--- a/p/a', '--- a/p/b', '--- a/p/c']);
  });

  /** A batch of files of six such lines, of which all are in the diff. */
  async function ofLines(...lines: string[]) {
    const texts = lines.map((line) => `${line}\n`.repeat(6));
    for (const [at, text] of texts.entries()) {
      const path = `${base()}/contents/p/${at}`;
      expect((await fixture.user.request('PUT', path, Buffer.from(text))).status).toBe(201);
    }
    const batch = await proposed(
      texts.map((text, at) => ({ docPath: `p/${at}`, sha: sha256(text), changes: [FOUR] })),
    );
    return { ...batch, sizes: texts.map(({ length }) => length) };
  }

  it.each([
    ['of one text', 'x'],
    ['of texts of their own', 'y'],
  ])('of files %s is limited in size, and each file has its own diff', async (_what, char) => {
    const { batchId, files, sizes } = await ofLines('x'.repeat(0.4 * KIB), char.repeat(0.4 * KIB));
    expect(await diff(batchId)).toMatchObject({
      status: 413,
      body: { code: 'TOO_LARGE', error: expect.stringContaining('filePatchId') as string },
    });
    for (const [at, { filePatchId }] of files.entries()) {
      const { status, body } = await diff(batchId, filePatchId);
      expect(status).toBe(200);
      expect(body.length).toBeGreaterThan(sizes[at]!);
    }
  });

  it('of one file is complete whatever its size', async () => {
    const { batchId, sizes } = await ofLines('x'.repeat(0.8 * KIB));
    const { status, body } = await diff(batchId);
    expect([status, body.length > sizes[0]!, sizes[0]! > 4 * KIB]).toEqual([200, true, true]);
  });
});
