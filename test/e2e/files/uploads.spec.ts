import { type Ack, type FilePutAnswer, sha256 } from '@patchbay/protocol';
import type { FakeClient } from '../../support/fake-client.js';
import { RelayScene } from '../../support/relay-scene.js';

describe('files:put', () => {
  let scene: RelayScene;
  let client: FakeClient;
  beforeAll(async () => {
    scene = await RelayScene.start({ maxFileBytes: 4096 });
    client = await scene.client();
  });
  afterAll(() => scene.close());

  const base = () => `/workspaces/${scene.workspaceId}`;
  const put = (
    path: string,
    text: string,
    baseText: string | null,
    more: object = {},
  ): Promise<Ack<FilePutAnswer>> =>
    client.socket.timeout(5_000).emitWithAck('files:put', {
      ...{ docPath: path.slice(1).toLowerCase(), path, content: Buffer.from(text), sha256: sha256(text) },
      ...{ baseSha256: baseText === null ? null : sha256(baseText), ...more },
    });
  const stored = async (path: string, text: string, baseText: string | null): Promise<FilePutAnswer> => {
    const answer = await put(path, text, baseText);
    if (!answer.ok) throw new Error(answer.error.message);
    return answer;
  };
  const conflictOf = (answer: Ack<FilePutAnswer>) => {
    if (answer.ok || answer.error.code !== 'STALE') throw new Error('was not STALE');
    return answer.error.details as { currentSha256: string | null; conflictVersionId: string };
  };
  const get = async (path: string) => (await scene.user.get<string>(`${base()}/contents${path}`)).body;
  const restore = (fileId: string, versionId: string) =>
    scene.user.post(`${base()}/files/${fileId}/restore`, { versionId });

  it('makes a file that must not exist yet, and replaces the head that it names [FILE-5]', async () => {
    const made = await stored('/Repo/A.txt', 'one', null);
    const next = await stored('/Repo/A.txt', 'two', 'one');
    expect(next.fileId).toBe(made.fileId);
    expect(await get('/repo/a.txt')).toBe('two');
    const { body } = await scene.user.get<{ versions: object[] }>(`${base()}/files/${made.fileId}/versions`);
    expect(body.versions).toMatchObject([
      { versionId: next.versionId, source: 'upload' },
      { versionId: made.versionId },
    ]);
  });

  it('of what the head is already changes nothing', async () => {
    const made = await stored('/repo/same.txt', 'one', null);
    expect(await stored('/repo/same.txt', 'one', null)).toEqual(made);
    expect(await stored('/repo/same.txt', 'one', 'whatever')).toEqual(made);
  });

  it('on a stale base is kept beside the head, to be fetched and promoted [FILE-5]', async () => {
    const { fileId } = await stored('/repo/stale.txt', 'one', null);
    await stored('/repo/stale.txt', 'two', 'one');
    for (const baseText of ['one', null]) {
      const { currentSha256, conflictVersionId } = conflictOf(
        await put('/repo/stale.txt', `late ${baseText}`, baseText),
      );
      expect(currentSha256).toBe(sha256('two'));
      expect(await get('/repo/stale.txt')).toBe('two');
      expect(await get(`/repo/stale.txt?versionId=${conflictVersionId}`)).toBe(`late ${baseText}`);
      expect((await restore(fileId, conflictVersionId)).status).toBe(200);
      expect(await get('/repo/stale.txt')).toBe(`late ${baseText}`);
      await stored('/repo/stale.txt', 'two', `late ${baseText}`);
    }
    const trail = await scene.user.get<{ events: object[] }>(
      `${base()}/audit?event=File.ConflictStored&path=/Repo/stale.txt`,
    );
    expect(trail.body.events).toHaveLength(2);
  });

  it('for a file that was deleted, or never was, loses no bytes either', async () => {
    const { fileId } = await stored('/repo/gone.txt', 'one', null);
    const path = '/repo/gone.txt';
    await scene.user.post(`${base()}/tools`, { tool: 'rm', args: { path } });
    const gone = conflictOf(await put(path, 'late', 'one'));
    expect(gone.currentSha256).toBeNull();
    expect(await get(`${path}?versionId=${gone.conflictVersionId}`)).toBe('late');
    await restore(fileId, gone.conflictVersionId);
    expect(await get(path)).toBe('late');

    const never = conflictOf(await put('/nowhere/New.txt', 'late', 'one'));
    expect(await get(`/nowhere/new.txt?versionId=${never.conflictVersionId}`)).toBe('late');
    expect((await scene.user.get(`${base()}/contents/nowhere/new.txt`)).status).toBe(404);
    const deleted = await scene.user.get<{ files: { fileId: string }[] }>(
      `${base()}/files?deleted=true&prefix=nowhere`,
    );
    await restore(deleted.body.files[0]!.fileId, never.conflictVersionId);
    expect(await get('/nowhere/New.txt')).toBe('late');
  });

  it('is refused where it contradicts itself, is too large, or has no place', async () => {
    await stored('/repo/file', 'x', null);
    const code = async (answer: Promise<Ack<FilePutAnswer>>) => {
      const ack = await answer;
      return ack.ok ? null : ack.error.code;
    };
    expect(await code(put('/repo/x', 'x', null, { sha256: sha256('y') }))).toBe('VALIDATION_ERROR');
    expect(await code(put('/repo/x', 'x', null, { docPath: 'repo/y' }))).toBe('VALIDATION_ERROR');
    expect(await code(put('/repo/../x', 'x', null))).toBe('VALIDATION_ERROR');
    expect(await code(put('/repo', 'x', null))).toBe('VALIDATION_ERROR');
    expect(await code(put('/repo/file/below', 'x', null))).toBe('CONFLICT');
    expect(await code(put('/repo/large', 'x'.repeat(4097), null))).toBe('TOO_LARGE');
  });

  it('of many clients on one base lets one win, and keeps what the others sent', async () => {
    const { fileId } = await stored('/repo/race.txt', 'base', null);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => put('/repo/race.txt', `writer ${n}`, 'base')),
    );
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    const { body } = await scene.user.get<{ versions: { sha256: string }[] }>(
      `${base()}/files/${fileId}/versions`,
    );
    const all = ['base', ...Array.from({ length: 10 }, (_, n) => `writer ${n}`)].map((text) => sha256(text));
    expect(new Set(body.versions.map((version) => version.sha256))).toEqual(new Set(all));
  });
});
