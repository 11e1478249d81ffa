import type { CloudFilePage, CloudFileVersion, ToolCallDelivery } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { newId } from '../../src/common/ids.js';
import { testFixture } from '../support/fixtures.js';
import { readTrail } from '../support/invariants.js';

import { appliedResult, DOC, patchCall, PatchFixture, TEXT } from '../support/patch-fixture.js';
import { oneServer } from '../support/server.js';

describe('workspace_write_patch', () => {
  const setup = new PatchFixture(oneServer());
  const { write, put } = setup;
  const fixture = testFixture(() => setup.open());
  const client = testFixture(() => setup.client);

  /** As a folder in step sends a file, which knows of no patch. */
  const sendPlain = (text: string): Promise<unknown> =>
    client.send('files:put', {
      ...{ docPath: DOC, path: `/${DOC}`, content: Buffer.from(text), sha256: sha256(text) },
      baseSha256: sha256(TEXT),
    });
  const versions = async (): Promise<CloudFileVersion[]> => {
    const { body } = await fixture.user.get<CloudFilePage>(`${setup.base()}/files`);
    const { fileId } = body.files.find(({ docPath }) => docPath === DOC)!;
    const page = await fixture.user.get<{ versions: CloudFileVersion[] }>(
      `${setup.base()}/files/${fileId}/versions`,
    );
    return page.body.versions;
  };

  it('keeps an upload with an outdated base beside the head [FILE-5]', async () => {
    await write('/repo/src/a.txt', TEXT);
    await fixture.post([patchCall()]);
    const call = await client.delivery();
    await write('/repo/src/a.txt', 'meanwhile\n');
    const answer = await put(call, 0, 'one\nTWO\nthree\n');
    expect(answer).toMatchObject({
      ok: false,
      error: {
        code: 'STALE',
        details: { currentSha256: sha256('meanwhile\n'), conflictVersionId: expect.any(String) as string },
      },
    });
    expect(await put(call, 0, 'one\nTWO\nthree\n')).toEqual(answer);
  });

  it('answers a repeated rejected upload with the missing file after that was deleted [FILE-5]', async () => {
    await write('/repo/src/a.txt', TEXT);
    await fixture.post([patchCall()]);
    const call = await client.delivery();
    await write('/repo/src/a.txt', 'meanwhile\n');
    const details = async () => {
      const answer = await put(call, 0, 'one\nTWO\nthree\n');
      if (answer.ok) throw new Error('It replaced the head');
      expect(answer.error.code).toBe('STALE');
      return answer.error.details as { currentSha256: string | null; conflictVersionId: string };
    };
    const refused = await details();
    const remove = { tool: 'rm', args: { path: '/repo/src/a.txt' } };
    expect((await fixture.user.post(`${setup.base()}/tools`, remove)).status).toBe(200);
    expect(await details()).toEqual({ ...refused, currentSha256: null });
    // Another file of its path is what stands there.
    await write('/repo/src/a.txt', 'another\n');
    expect(await details()).toEqual({ ...refused, currentSha256: sha256('another\n') });
  });

  it('answers a repeated rejected upload with the missing file where there was none [FILE-5]', async () => {
    await fixture.post([patchCall()]);
    const call = await client.delivery();
    const again = () => put(call, 0, 'one\nTWO\nthree\n', { isExact: true });
    const answer = await again();
    const details = { currentSha256: null, conflictVersionId: expect.any(String) as string };
    expect(answer).toMatchObject({ ok: false, error: { code: 'STALE', details } });
    expect(await again()).toEqual(answer);
  });

  it('creates versions that name their call, batch and file patch', async () => {
    await write('/repo/src/a.txt', TEXT);
    await fixture.post([patchCall()]);
    const call = await client.delivery();
    const uploaded = await put(call, 0, 'one\nTWO\nthree\n');
    if (!uploaded.ok) throw new Error(uploaded.error.message);
    const { body } = await fixture.user.get(`${setup.base()}/files/${uploaded.fileId}/versions`);
    const { batchId, files } = call.batch!;
    const [{ filePatchId } = {}] = files;
    expect(body).toMatchObject({
      versions: [{ callId: call.callId, batchId, filePatchId }, { batchId: null }],
    });
  });

  it('warns and records when it names another version than its upload [PATCH-5]', async () => {
    await write('/repo/src/a.txt', TEXT);
    const posted = fixture.post([patchCall()], { waitMs: 20_000 });
    const call = await client.delivery();
    expect(await put(call, 0, 'one\nTWO\nthree\n')).toMatchObject({ ok: true });
    const result = appliedResult(call.batch!, { [DOC]: TEXT }, [newId()]);
    expect(await client.report(call, { result })).toEqual({ ok: true });
    expect((await posted).body.warnings).toMatchObject([{ errorCode: 'DIVERGED' }]);
    const trail = await readTrail(fixture.user, fixture.workspaceId, '&event=Tool.WritePatch.Diverged');
    expect(trail).toMatchObject([{ fields: { docPath: DOC, against: 'upload' } }]);
  });

  it('stores equal bytes of two patches as two versions [FILE-5]', async () => {
    await write('/repo/src/a.txt', TEXT);
    await fixture.post([patchCall()]);
    await fixture.post([patchCall()]);
    const calls = [await client.delivery(1), await client.delivery(2)];
    await write('/repo/src/a.txt', 'meanwhile\n');
    const keep = async (call: ToolCallDelivery) => {
      const answer = await put(call, 0, 'one\nTWO\nthree\n');
      if (answer.ok) throw new Error('It replaced the head');
      return (answer.error.details as { conflictVersionId: string }).conflictVersionId;
    };
    const [first, second] = [await keep(calls[0]!), await keep(calls[1]!)];
    expect(second).not.toBe(first);
    expect([await keep(calls[0]!), await keep(calls[1]!)]).toEqual([first, second]);
  });

  it('stores a repeated upload once [FILE-5]', async () => {
    await write('/repo/src/a.txt', TEXT);
    await fixture.post([patchCall()]);
    const call = await client.delivery();
    const first = await put(call, 0, 'one\nTWO\nthree\n');
    expect(first).toMatchObject({ ok: true });
    expect(await put(call, 0, 'one\nTWO\nthree\n')).toEqual(first);
  });

  it('stores concurrent equal uploads once [FILE-5]', async () => {
    await write('/repo/src/a.txt', TEXT);
    await fixture.post([patchCall()]);
    const call = await client.delivery();
    const answers = await Promise.all([1, 2, 3].map(() => put(call, 0, 'one\nTWO\nthree\n')));
    expect(answers).toEqual([answers[0], answers[0], answers[0]]);
    expect(answers[0]).toMatchObject({ ok: true });
  });

  it.each<[string, (text: string) => Promise<unknown>]>([
    ['a tool', (text) => write('/repo/src/a.txt', text)],
    ['a folder in step', (text) => sendPlain(text)],
  ])(
    'accepts an upload of bytes that %s has uploaded already as the existing version [FILE-5]',
    async (_, bring) => {
      await write('/repo/src/a.txt', TEXT);
      const posted = fixture.post([patchCall()], { waitMs: 20_000 });
      const call = await client.delivery();
      await bring('one\nTWO\nthree\n');
      const before = await versions();
      const uploaded = await put(call, 0, 'one\nTWO\nthree\n');
      if (!uploaded.ok) throw new Error(uploaded.error.message);
      expect([await versions(), uploaded.versionId]).toEqual([before, before[0]!.versionId]);
      expect(before.map((version) => version.sha256)).toEqual([sha256('one\nTWO\nthree\n'), sha256(TEXT)]);
      await write('/repo/src/a.txt', 'and on\n');
      await client.report(call, {
        result: appliedResult(call.batch!, { [DOC]: TEXT }, [uploaded.versionId]),
      });
      expect((await posted).body.warnings).toEqual([]);
    },
  );

  it('is one version, whether its folder uploads the file before or after it [FILE-5]', async () => {
    await write('/repo/src/a.txt', TEXT);
    await fixture.post([patchCall()]);
    const call = await client.delivery();
    const first = await put(call, 0, 'one\nTWO\nthree\n');
    expect(await sendPlain('one\nTWO\nthree\n')).toEqual(first);
    expect(await versions()).toHaveLength(2);
  });

  it.each<[string, (call: ToolCallDelivery) => Promise<unknown>]>([
    ['its upload', (call) => put(call, 0, 'one\nTWO\nthree\n')],
    ['a push', () => sendPlain('one\nTWO\nthree\n')],
  ])('has the version of %s when its client omits it [PATCH-14]', async (_, bring) => {
    await write('/repo/src/a.txt', TEXT);
    const { turnId } = (await fixture.post([patchCall()])).body.result;
    const call = await client.delivery();
    await bring(call);
    const [{ versionId } = { versionId: null }] = await versions();
    const result = appliedResult(call.batch!, { [DOC]: TEXT }, []);
    expect(await client.report(call, { result })).toEqual({ ok: true });
    const ended = (await fixture.calls(turnId)).p1;
    expect(ended).toMatchObject({ result: { files: [{ versionId }] } });
    const batch = await fixture.user.get(`${setup.base()}/patches/${call.batch!.batchId!}`);
    expect(batch.body).toMatchObject({ files: [{ outcome: { versionId } }] });
    await write('/repo/src/a.txt', 'and on\n');
    expect(await client.report(call, { result })).toEqual({ ok: true, duplicate: true });
  });

  it.each([
    ['another sha256', { sha256: 'a'.repeat(64) }, 'VALIDATION_ERROR'],
    ['another docPath', { docPath: 'repo/other.txt' }, 'VALIDATION_ERROR'],
    ['text in the place of bytes', { content: 'text' }, 'VALIDATION_ERROR'],
    ['an unknown file patch', { filePatchId: '01a200ef-dbdf-7042-8e77-612ae8a639f0' }, 'NOT_FOUND'],
  ])('rejects an upload with %s', async (_what, change, code) => {
    await fixture.post([patchCall()]);
    const call = await client.delivery();
    expect(await put(call, 0, 'x', change)).toMatchObject({ ok: false, error: { code } });
  });

  it('rejects an upload for the patch of another member like one for an unknown patch', async () => {
    const ben = await fixture.server.register();
    await fixture.user.addMember(fixture.workspaceId, ben);
    await fixture.post([patchCall()]);
    const call = await client.delivery();
    setup.client = await fixture.client({ token: ben.token, clientId: 'of-ben' });
    expect(await put(call, 0, 'x')).toMatchObject({ ok: false, error: { code: 'NOT_FOUND' } });
  });
});
