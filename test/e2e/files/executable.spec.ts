import { chmod, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CloudFilePage, CloudFileVersionPage, CommittedFile, FileChange } from '@patchbay/protocol';
import { packBlobs } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { FakeClient } from '../../support/fake-client.js';
import { suiteFixture, testFixture } from '../../support/fixtures.js';
import { SyncFixture } from '../../support/sync-fixture.js';
import { ToolsFixture } from '../../support/tools-fixture.js';

describe('the executable bit of a file [FILE-30]', () => {
  const shared = suiteFixture(() => ToolsFixture.start());
  let fixture: ToolsFixture;
  const setup = testFixture(() => SyncFixture.start(shared));
  beforeEach(async () => {
    fixture = setup.fixture;
  });

  const RUN = '#!/bin/sh\necho run\n';
  const isExecutable = async (...path: string[]) => ((await stat(join(...path))).mode & 0o111) !== 0;
  const fileAt = async (path: string) => {
    const { body } = await fixture.user.get<CloudFilePage>(`${fixture.base}/files?prefix=${path}`);
    return body.files[0]!;
  };
  const versions = async (path: string) => {
    const { fileId } = await fileAt(path);
    const { body } = await fixture.user.get<CloudFileVersionPage>(`${fixture.base}/files/${fileId}/versions`);
    return body.versions;
  };
  const bits = async (path: string) => (await versions(path)).map((version) => version.isExecutable);
  const commit = async (path: string, text: string, base: string | null, isExecutable?: boolean) => {
    await fixture.raw('POST', '/blobs', {}, packBlobs([Buffer.from(text)]));
    const change: FileChange = {
      ...{ path, sha256: sha256(text), baseSha256: base === null ? null : sha256(base) },
      ...(isExecutable !== undefined && { isExecutable }),
    };
    return fixture.user.post<{ files: CommittedFile[]; fields?: object }>(`${fixture.base}/files/commit`, {
      files: [change],
    });
  };

  it('is sent by a push and set by a pull', async () => {
    const folder = await setup.folder('p', { 'run.sh': RUN, 'plain.txt': 'x', bin: RUN });
    await chmod(join(folder, 'run.sh'), 0o755);
    await chmod(join(folder, 'bin'), 0o700);
    expect((await setup.push(folder)).code).toBe(0);
    expect((await fileAt('p/run.sh')).isExecutable).toBe(true);
    expect((await fileAt('p/plain.txt')).isExecutable).toBe(false);
    const other = join(setup.directory, 'other', 'p');
    expect((await setup.pull(other)).code).toBe(0);
    for (const name of ['run.sh', 'bin'])
      expect([name, await isExecutable(other, name)]).toEqual([name, true]);
    expect(await isExecutable(other, 'plain.txt')).toBe(false);
    expect((await setup.push(other)).out).toBe('sent 0 files (0 B), 3 unchanged.\n');
    expect(await bits('p/run.sh')).toEqual([true]);
  });

  it('is sent and set when nothing else of a file has changed', async () => {
    const folder = await setup.folder('p', { 'run.sh': RUN });
    const other = join(setup.directory, 'other', 'p');
    await setup.push(folder);
    await setup.pull(other);
    await chmod(join(folder, 'run.sh'), 0o755);
    expect((await setup.push(folder, '--dry-run')).out).toContain('run.sh: would be made executable');
    expect((await setup.push(folder)).out).toContain('sent 1 file');
    expect(await bits('p/run.sh')).toEqual([true, false]);
    expect((await setup.pull(other, '--dry-run')).out).toContain('run.sh: would be made executable');
    // What has not changed here is not sent: the Cloud's newer mode stays.
    expect((await setup.push(other)).out).toContain('sent 0 files');
    expect((await setup.pull(other)).out).toContain('received 1 file');
    expect(await isExecutable(other, 'run.sh')).toBe(true);
    await writeFile(join(other, 'run.sh'), 'both changed');
    await chmod(join(other, 'run.sh'), 0o644);
    await setup.push(other);
    expect(await bits('p/run.sh')).toEqual([false, true, false]);
    await setup.pull(folder);
    expect(await isExecutable(folder, 'run.sh')).toBe(false);
  });

  it('keeps a local change when the Cloud has another text, and is sent with the next push', async () => {
    const folder = await setup.folder('p', { 'run.sh': RUN });
    await setup.push(folder);
    await fixture.raw('PUT', '/contents/p/run.sh', {}, 'from there');
    await chmod(join(folder, 'run.sh'), 0o755);
    await setup.pull(folder);
    expect(await isExecutable(folder, 'run.sh')).toBe(true);
    await setup.push(folder);
    expect(await bits('p/run.sh')).toEqual([true, false, false]);
  });

  it('is set from one side by --force', async () => {
    const folder = await setup.folder('p', { 'run.sh': RUN });
    const other = join(setup.directory, 'other', 'p');
    await setup.push(folder);
    await setup.pull(other);
    await chmod(join(other, 'run.sh'), 0o755);
    await setup.push(other);
    await setup.push(folder, '--force');
    expect(await bits('p/run.sh')).toEqual([false, true, false]);
    await setup.pull(other, '--force');
    expect(await isExecutable(other, 'run.sh')).toBe(false);
  });

  it('is not exchanged for equal files of folders that were never in sync', async () => {
    const [one, two] = [
      await setup.folder('a/p', { 'run.sh': RUN }),
      await setup.folder('b/p', { 'run.sh': RUN }),
    ];
    await chmod(join(one, 'run.sh'), 0o755);
    for (const folder of [one, two, one, two]) expect((await setup.push(folder)).code).toBe(0);
    expect(await bits('p/run.sh')).toEqual([true]);
    await setup.pull(two);
    expect(await isExecutable(two, 'run.sh')).toBe(true);
  });

  it('is unchanged by a commit, contents, a tool or a patch without it', async () => {
    await commit('/p/run.sh', 'one', null, true);
    await commit('/p/run.sh', 'two', 'one');
    await fixture.raw('PUT', '/contents/p/run.sh', {}, 'three');
    await fixture.write('/p/run.sh', { text: 'four' });
    await fixture.ok('edit', { path: '/p/run.sh', oldString: 'four', newString: 'five' });
    expect(await bits('p/run.sh')).toEqual([true, true, true, true, true]);
    await fixture.ok('mv', { from: '/p/run.sh', to: '/p/moved.sh' });
    expect((await fileAt('p/moved.sh')).isExecutable).toBe(true);
  });

  it('is that of the version that is restored', async () => {
    await commit('/p/run.sh', 'one', null, true);
    await commit('/p/run.sh', 'one', 'one', false);
    const [{ fileId }, [, first]] = [await fileAt('p/run.sh'), await versions('p/run.sh')];
    await fixture.user.post(`${fixture.base}/files/${fileId}/restore`, { versionId: first!.versionId });
    expect(await bits('p/run.sh')).toEqual([true, false, true]);
    await fixture.ok('rm', { path: '/p/run.sh' });
    await fixture.user.post(`${fixture.base}/files/${fileId}/restore`, {});
    expect((await fileAt('p/run.sh')).isExecutable).toBe(true);
  });

  it('is absent by default, and rejected with a deletion or when it is not a boolean', async () => {
    await commit('/p/a', 'one', null);
    expect(await fileAt('p/a')).not.toHaveProperty('isExecutable');
    const deletion = { path: '/p/a', deleted: true, baseSha256: sha256('one') };
    for (const change of [
      { ...deletion, isExecutable: true },
      { path: '/p/a', sha256: sha256('one'), baseSha256: null, isExecutable: 'yes' },
    ]) {
      const { status, body } = await fixture.user.post<{ fields: object }>(`${fixture.base}/files/commit`, {
        files: [change],
      });
      expect([status, Object.keys(body.fields)]).toEqual([400, ['files[0].isExecutable']]);
    }
  });

  it('is set by files:put, also alone, based on the head', async () => {
    const { server, user, workspaceId } = fixture;
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

  it('is shown by status', async () => {
    const folder = await setup.folder('p', { 'run.sh': RUN });
    await setup.push(folder);
    await chmod(join(folder, 'run.sh'), 0o755);
    expect((await setup.run('status', folder)).out).toContain('run.sh');
  });
});
