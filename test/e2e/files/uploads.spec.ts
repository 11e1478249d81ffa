import { type Ack, type FilePutAnswer } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import type { FakeClient } from '../../support/fake-client.js';
import { suiteFixture } from '../../support/fixtures.js';
import { readTrail } from '../../support/invariants.js';
import { createCall, RelayFixture } from '../../support/relay-fixture.js';
import { waitFor } from '../../support/wait-for.js';

describe('files:put', () => {
  const fixture = suiteFixture(() => RelayFixture.start({ maxFileBytes: 4096 }));
  let client: FakeClient;
  beforeAll(async () => {
    client = await fixture.client();
  });

  const base = () => `/workspaces/${fixture.workspaceId}`;
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
  const get = async (path: string) => (await fixture.user.get<string>(`${base()}/contents${path}`)).body;
  const remove = (path: string) => fixture.user.post(`${base()}/tools`, { tool: 'rm', args: { path } });
  const diffOf = async (fileId: string) =>
    (await fixture.user.get<string>(`${base()}/files/${fileId}/diff`)).body;
  const restore = (fileId: string, versionId: string) =>
    fixture.user.post(`${base()}/files/${fileId}/restore`, { versionId });

  it('creates a file that must not exist, and replaces the named head [FILE-5]', async () => {
    const made = await stored('/Repo/A.txt', 'one', null);
    const next = await stored('/Repo/A.txt', 'two', 'one');
    expect(next.fileId).toBe(made.fileId);
    expect(await get('/repo/a.txt')).toBe('two');
    const { body } = await fixture.user.get<{ versions: object[] }>(
      `${base()}/files/${made.fileId}/versions`,
    );
    expect(body.versions).toMatchObject([
      { versionId: next.versionId, source: 'upload' },
      { versionId: made.versionId },
    ]);
  });

  it('answers with the spelling of the Cloud, and keeps the given spelling of new folders [FILE-31]', async () => {
    expect(await stored('/Twin/Lib/a.txt', 'one', null)).toMatchObject({ path: '/Twin/Lib/a.txt' });
    expect(await stored('/twin/lib/b.txt', 'one', null)).toMatchObject({ path: '/Twin/lib/b.txt' });
    expect(await stored('/twin/LIB/A.txt', 'two', 'one')).toMatchObject({ path: '/Twin/Lib/a.txt' });
    expect(await stored('/twin/LIB/A.txt', 'two', 'one')).toMatchObject({ path: '/Twin/Lib/a.txt' });
  });

  it('changes nothing when the head has the same bytes', async () => {
    const made = await stored('/repo/same.txt', 'one', null);
    expect(await stored('/repo/same.txt', 'one', null)).toEqual(made);
    expect(await stored('/repo/same.txt', 'one', 'whatever')).toEqual(made);
  });

  it('with a stale base is kept beside the head, to be read and promoted [FILE-5]', async () => {
    const { fileId } = await stored('/Stale/a.txt', 'one', null);
    await stored('/Stale/a.txt', 'two', 'one');
    for (const baseText of ['one', null]) {
      const { currentSha256, conflictVersionId } = conflictOf(
        await put('/Stale/a.txt', `late ${baseText}`, baseText),
      );
      expect(currentSha256).toBe(sha256('two'));
      expect(await get('/Stale/a.txt')).toBe('two');
      expect(await get(`/Stale/a.txt?versionId=${conflictVersionId}`)).toBe(`late ${baseText}`);
      expect((await restore(fileId, conflictVersionId)).status).toBe(200);
      expect(await get('/Stale/a.txt')).toBe(`late ${baseText}`);
      await stored('/Stale/a.txt', 'two', `late ${baseText}`);
    }
    const trail = await fixture.user.get<{ events: object[] }>(
      `${base()}/audit?event=File.ConflictStored&path=/Stale/a.txt`,
    );
    expect(trail.body.events).toHaveLength(2);
  });

  it('for a deleted or unknown file keeps the bytes', async () => {
    const { fileId } = await stored('/repo/gone.txt', 'one', null);
    const path = '/repo/gone.txt';
    await remove(path);
    const gone = conflictOf(await put(path, 'late', 'one'));
    expect(gone.currentSha256).toBeNull();
    expect(await get(`${path}?versionId=${gone.conflictVersionId}`)).toBe('late');
    await restore(fileId, gone.conflictVersionId);
    expect(await get(path)).toBe('late');

    const never = conflictOf(await put('/nowhere/New.txt', 'late', 'one'));
    expect(await get(`/nowhere/new.txt?versionId=${never.conflictVersionId}`)).toBe('late');
    expect((await fixture.user.get(`${base()}/contents/nowhere/new.txt`)).status).toBe(404);
    const deleted = await fixture.user.get<{ files: { fileId: string }[] }>(
      `${base()}/files?deleted=true&prefix=nowhere`,
    );
    await restore(deleted.body.files[0]!.fileId, never.conflictVersionId);
    expect(await get('/nowhere/New.txt')).toBe('late');
  });

  it('is rejected when it is inconsistent, too large or has no place', async () => {
    await stored('/repo/file', 'x', null);
    const code = async (answer: Promise<Ack<FilePutAnswer>>) => {
      const ack = await answer;
      return ack.ok ? null : ack.error.code;
    };
    expect(await code(put('/repo/x', 'x', null, { sha256: sha256('y') }))).toBe('VALIDATION_ERROR');
    expect(await code(put('/repo/x', 'x', null, { docPath: 'repo/y' }))).toBe('VALIDATION_ERROR');
    expect(await code(put('/repo/../x', 'x', null))).toBe('VALIDATION_ERROR');
    expect(await code(put('/repo/', 'x', null, { docPath: 'repo' }))).toBe('VALIDATION_ERROR');
    expect(await code(put('/repo/large', 'x'.repeat(4097), null))).toBe('TOO_LARGE');
  });

  it('keeps the bytes when a folder or a file above it blocks the path', async () => {
    await stored('/way/folder/file', 'x', null);
    for (const [path, baseText] of [
      ['/way/folder', null],
      ['/way/Folder', 'before'],
      ['/way/folder/file/below', null],
    ] as const) {
      const answer = await put(path, `kept ${path}`, baseText);
      if (answer.ok) throw new Error('was taken');
      const { conflictVersionId } = answer.error.details as { conflictVersionId: string };
      expect(await get(`${path}?versionId=${conflictVersionId}`)).toBe(`kept ${path}`);
      expect(await get('/way/folder/file')).toBe('x');
    }
    const answer = await put('/way/folder', 'kept /way/folder', null);
    expect(answer).toMatchObject({
      ok: false,
      error: { code: 'CONFLICT', message: expect.stringContaining('is a folder') as string },
    });
  });

  it('is not compared with the next head when kept beside the head', async () => {
    const { fileId } = await stored('/repo/beside.txt', 'base\n', null);
    conflictOf(await put('/repo/beside.txt', 'beside\n', 'other'));
    await stored('/repo/beside.txt', 'next\n', 'base\n');
    expect(await diffOf(fileId)).toContain('-base\n+next\n');
  });

  it('is compared with the next head when promoted', async () => {
    const path = '/repo/promoted.txt';
    const { fileId } = await stored(path, 'base\n', null);
    const { conflictVersionId } = conflictOf(await put(path, 'beside\n', 'other'));
    await restore(fileId, conflictVersionId);
    await stored(path, 'next\n', 'beside\n');
    expect(await diffOf(fileId)).toContain('-beside\n+next\n');
  });

  it('keeps the previous head readable, however many uploads were kept beside it', async () => {
    const { fileId } = await stored('/repo/many.txt', 'base\n', null);
    await Promise.all(
      Array.from({ length: 51 }, (_, at) => put('/repo/many.txt', `${at}\n`, 'other').then(conflictOf)),
    );
    await stored('/repo/many.txt', 'next\n', 'base\n');
    expect(await diffOf(fileId)).toContain('-base\n+next\n');
  });

  it('of a call is based on the head at the time of its turn [FILE-5]', async () => {
    const calledFor = async (path: string) => {
      await fixture.post([createCall(path, path)]);
      await waitFor(() => client.calls.some(({ toolCallId }) => toolCallId === path), 'the call');
      const { callId } = client.calls.find(({ toolCallId }) => toolCallId === path)!;
      return { callId, end: () => fixture.cancel(client.calls.at(-1)!.turnId) };
    };
    // What the disk held before is not what the Cloud had, and not what the upload has to replace.
    await stored('/repo/called.txt', 'cloud', null);
    const first = await calledFor('called.txt');
    const answer = await put('/repo/called.txt', 'written', 'disk', { callId: first.callId });
    expect(answer).toMatchObject({ ok: true });
    expect(await get('/repo/called.txt')).toBe('written');
    // The head has moved on since; what the client has uploaded itself it may name.
    expect((await put('/repo/called.txt', 'lost', 'disk', { callId: first.callId })).ok).toBe(false);
    expect((await put('/repo/called.txt', 'again', 'written', { callId: first.callId })).ok).toBe(true);
    await first.end();
    const made = await calledFor('made.txt');
    await stored('/repo/made.txt', 'in between', null);
    conflictOf(await put('/repo/made.txt', 'written', null, { callId: made.callId }));
    await made.end();
    await stored('/repo/gone-before.txt', 'cloud', null);
    await remove('/repo/gone-before.txt');
    const anew = await calledFor('gone-before.txt');
    expect((await put('/repo/gone-before.txt', 'written', 'disk', { callId: anew.callId })).ok).toBe(true);
    await anew.end();
    const gone = await stored('/repo/gone-since.txt', 'cloud', null);
    const last = await calledFor('gone-since.txt');
    await remove('/repo/gone-since.txt');
    const { conflictVersionId } = conflictOf(
      await put('/repo/gone-since.txt', 'written', null, { callId: last.callId }),
    );
    expect((await restore(gone.fileId, conflictVersionId)).status).toBe(200);
    await last.end();
  });

  it('is recorded after the step that its client reported before it', async () => {
    await fixture.post([createCall('told', 'told.txt')]);
    await waitFor(() => client.calls.some(({ toolCallId }) => toolCallId === 'told'), 'the call');
    const call = client.calls.find(({ toolCallId }) => toolCallId === 'told')!;
    const step = client.status(call, 'awaiting_approval');
    await put('/repo/told.txt', 'told', null, { callId: call.callId });
    await step;
    const trail = await readTrail(fixture.user, fixture.workspaceId, `&turnId=${call.turnId}`);
    expect(trail.map(({ name }) => name).slice(-2)).toEqual([
      'Tool.CreateFile.AwaitingApproval',
      'File.Created',
    ]);
    await fixture.cancel(call.turnId);
  });

  it('that is exact replaces only the named head, and not the head that the server assumes', async () => {
    await stored('/repo/exact.txt', 'cloud', null);
    await fixture.post([createCall('exact', 'exact.txt')]);
    await waitFor(() => client.calls.some(({ toolCallId }) => toolCallId === 'exact'), 'the call');
    const { callId, turnId } = client.calls.find(({ toolCallId }) => toolCallId === 'exact')!;
    for (const baseText of ['disk', null])
      conflictOf(await put('/repo/exact.txt', `on ${baseText}`, baseText, { callId, isExact: true }));
    expect((await put('/repo/exact.txt', 'on cloud', 'cloud', { callId, isExact: true })).ok).toBe(true);
    await fixture.cancel(turnId);
  });

  it('creates one version when sent several times, also concurrently [FILE-5]', async () => {
    const same = await Promise.all(Array.from({ length: 5 }, () => put('/repo/once.txt', 'one', null)));
    expect(same.map(({ ok }) => ok)).toEqual([true, true, true, true, true]);
    const { fileId } = await stored('/repo/once.txt', 'one', null);
    const late = await Promise.all(Array.from({ length: 5 }, () => put('/repo/once.txt', 'late', 'other')));
    expect(new Set(late.map((answer) => conflictOf(answer).conflictVersionId)).size).toBe(1);
    const never = [
      await put('/repo/never.txt', 'late', 'other'),
      await put('/repo/never.txt', 'late', 'other'),
    ];
    expect(new Set(never.map((answer) => conflictOf(answer).conflictVersionId)).size).toBe(1);
    const { body } = await fixture.user.get<{ versions: object[] }>(`${base()}/files/${fileId}/versions`);
    expect(body.versions).toHaveLength(2);
  });

  it('of several clients with one base has one winner, and the other bytes are kept', async () => {
    const { fileId } = await stored('/repo/race.txt', 'base', null);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => put('/repo/race.txt', `writer ${n}`, 'base')),
    );
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    const { body } = await fixture.user.get<{ versions: { sha256: string }[] }>(
      `${base()}/files/${fileId}/versions`,
    );
    const all = ['base', ...Array.from({ length: 10 }, (_, n) => `writer ${n}`)].map((text) => sha256(text));
    expect(new Set(body.versions.map((version) => version.sha256))).toEqual(new Set(all));
  });
});
