import { chmod, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CloudFilePage, CloudFileVersionPage, CommittedFile, FileChange } from '@patchbay/protocol';
import { packBlobs } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { FakeClient } from '../../support/fake-client.js';
import { SyncDesk } from '../../support/sync-desk.js';
import { ToolsScene } from '../../support/tools-scene.js';

describe('the executable bit of a file [FILE-30]', () => {
  let shared: ToolsScene;
  let scene: ToolsScene;
  let desk: SyncDesk;
  beforeAll(async () => void (shared = await ToolsScene.start()));
  afterAll(() => shared.close());
  beforeEach(async () => {
    desk = await SyncDesk.start(shared);
    scene = desk.scene;
  });
  afterEach(() => desk.close());

  const RUN = '#!/bin/sh\necho run\n';
  const isExecutable = async (...path: string[]) => ((await stat(join(...path))).mode & 0o111) !== 0;
  const fileAt = async (path: string) => {
    const { body } = await scene.user.get<CloudFilePage>(`${scene.base}/files?prefix=${path}`);
    return body.files[0]!;
  };
  const versions = async (path: string) => {
    const { fileId } = await fileAt(path);
    const { body } = await scene.user.get<CloudFileVersionPage>(`${scene.base}/files/${fileId}/versions`);
    return body.versions;
  };
  const bits = async (path: string) => (await versions(path)).map((version) => version.isExecutable);
  const commit = async (path: string, text: string, base: string | null, isExecutable?: boolean) => {
    await scene.raw('POST', '/blobs', {}, packBlobs([Buffer.from(text)]));
    const change: FileChange = {
      ...{ path, sha256: sha256(text), baseSha256: base === null ? null : sha256(base) },
      ...(isExecutable !== undefined && { isExecutable }),
    };
    return scene.user.post<{ files: CommittedFile[]; fields?: object }>(`${scene.base}/files/commit`, {
      files: [change],
    });
  };

  it('goes with a push, and comes with a pull', async () => {
    const folder = await desk.folder('p', { 'run.sh': RUN, 'plain.txt': 'x', bin: RUN });
    await chmod(join(folder, 'run.sh'), 0o755);
    await chmod(join(folder, 'bin'), 0o700);
    expect((await desk.push(folder)).code).toBe(0);
    expect((await fileAt('p/run.sh')).isExecutable).toBe(true);
    expect((await fileAt('p/plain.txt')).isExecutable).toBe(false);
    const other = join(desk.directory, 'other', 'p');
    expect((await desk.pull(other)).code).toBe(0);
    for (const name of ['run.sh', 'bin'])
      expect([name, await isExecutable(other, name)]).toEqual([name, true]);
    expect(await isExecutable(other, 'plain.txt')).toBe(false);
    expect((await desk.push(other)).out).toBe('sent 0 files (0 B), 3 unchanged.\n');
    expect(await bits('p/run.sh')).toEqual([true]);
  });

  it('is sent, and brought, where nothing else of a file has changed', async () => {
    const folder = await desk.folder('p', { 'run.sh': RUN });
    const other = join(desk.directory, 'other', 'p');
    await desk.push(folder);
    await desk.pull(other);
    await chmod(join(folder, 'run.sh'), 0o755);
    expect((await desk.push(folder, '--dry-run')).out).toContain('run.sh: would be made executable');
    expect((await desk.push(folder)).out).toContain('sent 1 file');
    expect(await bits('p/run.sh')).toEqual([true, false]);
    expect((await desk.pull(other, '--dry-run')).out).toContain('run.sh: would be made executable');
    // What has not changed here is not sent: the Cloud's newer mode stays.
    expect((await desk.push(other)).out).toContain('sent 0 files');
    expect((await desk.pull(other)).out).toContain('received 1 file');
    expect(await isExecutable(other, 'run.sh')).toBe(true);
    await writeFile(join(other, 'run.sh'), 'both changed');
    await chmod(join(other, 'run.sh'), 0o644);
    await desk.push(other);
    expect(await bits('p/run.sh')).toEqual([false, true, false]);
    await desk.pull(folder);
    expect(await isExecutable(folder, 'run.sh')).toBe(false);
  });

  it('that was changed here stays when the Cloud has another text, and is sent with the next push', async () => {
    const folder = await desk.folder('p', { 'run.sh': RUN });
    await desk.push(folder);
    await scene.raw('PUT', '/contents/p/run.sh', {}, 'from there');
    await chmod(join(folder, 'run.sh'), 0o755);
    await desk.pull(folder);
    expect(await isExecutable(folder, 'run.sh')).toBe(true);
    await desk.push(folder);
    expect(await bits('p/run.sh')).toEqual([true, false, false]);
  });

  it('is made what it is on one side by --force', async () => {
    const folder = await desk.folder('p', { 'run.sh': RUN });
    const other = join(desk.directory, 'other', 'p');
    await desk.push(folder);
    await desk.pull(other);
    await chmod(join(other, 'run.sh'), 0o755);
    await desk.push(other);
    await desk.push(folder, '--force');
    expect(await bits('p/run.sh')).toEqual([false, true, false]);
    await desk.pull(other, '--force');
    expect(await isExecutable(other, 'run.sh')).toBe(false);
  });

  it('of equal files in two folders that were never synced is not sent to and fro', async () => {
    const [one, two] = [
      await desk.folder('a/p', { 'run.sh': RUN }),
      await desk.folder('b/p', { 'run.sh': RUN }),
    ];
    await chmod(join(one, 'run.sh'), 0o755);
    for (const folder of [one, two, one, two]) expect((await desk.push(folder)).code).toBe(0);
    expect(await bits('p/run.sh')).toEqual([true]);
    await desk.pull(two);
    expect(await isExecutable(two, 'run.sh')).toBe(true);
  });

  it('stays as it is where a change does not name it: a commit, contents, a tool, a patched text', async () => {
    await commit('/p/run.sh', 'one', null, true);
    await commit('/p/run.sh', 'two', 'one');
    await scene.raw('PUT', '/contents/p/run.sh', {}, 'three');
    await scene.write('/p/run.sh', { text: 'four' });
    await scene.ok('edit', { path: '/p/run.sh', oldString: 'four', newString: 'five' });
    expect(await bits('p/run.sh')).toEqual([true, true, true, true, true]);
    await scene.ok('mv', { from: '/p/run.sh', to: '/p/moved.sh' });
    expect((await fileAt('p/moved.sh')).isExecutable).toBe(true);
  });

  it('is that of the version that is restored', async () => {
    await commit('/p/run.sh', 'one', null, true);
    await commit('/p/run.sh', 'one', 'one', false);
    const [{ fileId }, [, first]] = [await fileAt('p/run.sh'), await versions('p/run.sh')];
    await scene.user.post(`${scene.base}/files/${fileId}/restore`, { versionId: first!.versionId });
    expect(await bits('p/run.sh')).toEqual([true, false, true]);
    await scene.ok('rm', { path: '/p/run.sh' });
    await scene.user.post(`${scene.base}/files/${fileId}/restore`, {});
    expect((await fileAt('p/run.sh')).isExecutable).toBe(true);
  });

  it('is absent where nobody has said it, and refused beside a deletion or where it is no boolean', async () => {
    await commit('/p/a', 'one', null);
    expect(await fileAt('p/a')).not.toHaveProperty('isExecutable');
    const deletion = { path: '/p/a', deleted: true, baseSha256: sha256('one') };
    for (const change of [
      { ...deletion, isExecutable: true },
      { path: '/p/a', sha256: sha256('one'), baseSha256: null, isExecutable: 'yes' },
    ]) {
      const { status, body } = await scene.user.post<{ fields: object }>(`${scene.base}/files/commit`, {
        files: [change],
      });
      expect([status, Object.keys(body.fields)]).toEqual([400, ['files[0].isExecutable']]);
    }
  });

  it('comes with files:put, alone too, based on the head', async () => {
    const { server, user, workspaceId } = scene;
    const client = await FakeClient.ready({ url: server.url, token: user.token, workspaceId });
    const put = (text: string, base: string | null, isExecutable?: boolean) =>
      client.socket.timeout(5_000).emitWithAck('files:put', {
        ...{ docPath: 'p/run.sh', path: '/p/run.sh', content: Buffer.from(text), sha256: sha256(text) },
        ...{ baseSha256: base === null ? null : sha256(base) },
        ...(isExecutable !== undefined && { isExecutable }),
      }) as Promise<{ ok: boolean }>;
    try {
      const steps = [() => put('one', null, true), () => put('two', 'one')];
      for (const step of [...steps, () => put('two', 'two', false), () => put('two', 'two', false)])
        expect(await step()).toMatchObject({ ok: true });
      expect(await bits('p/run.sh')).toEqual([false, true, true]);
    } finally {
      client.close();
    }
  });

  it('is what status tells of', async () => {
    const folder = await desk.folder('p', { 'run.sh': RUN });
    await desk.push(folder);
    await chmod(join(folder, 'run.sh'), 0o755);
    expect((await desk.run('status', folder)).out).toContain('run.sh');
  });
});
