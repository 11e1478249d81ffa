import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDiskJournal } from '@patchbay/client/home';
import { type Journal, RelayClient } from '@patchbay/client/relay';
import type { ToolResult, WritePatchResult } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { type Approver, CreateFileTool, WorkspaceRoots, WritePatchTool } from '@patchbay/workspace';
import { allowsAll } from '../support/approvers.js';
import { RelayFixture } from '../support/relay-fixture.js';
import { oneServer } from '../support/server.js';

const replace = (line: number, from: string, to: string) => ({
  operation: 'replace',
  ...{ startLine: line, endLine: line, expectedOriginalLines: [from], newLines: [to] },
});
const patchOf = (...files: { docPath: string; original: string; changes: unknown[] }[]) => ({
  toolCallId: 'p',
  name: 'workspace_write_patch',
  arguments: {
    files: files.map(({ docPath, original, changes }) => ({
      docPath,
      originalSha256: sha256(original),
      changes,
    })),
  },
});

describe('a patch, from the turn to the disk and back into the Cloud', () => {
  const server = oneServer();
  let fixture: RelayFixture;
  let base: string;
  let folder: string;
  let journal: Journal;
  let client: RelayClient;
  let warnings: string[];

  beforeEach(async () => {
    warnings = [];
    fixture = await RelayFixture.on(server(), await server().register());
    base = await mkdtemp(join(tmpdir(), 'patchbay-round-'));
    folder = join(base, 'Repo');
    await mkdir(join(folder, 'Src'), { recursive: true });
    journal = await openDiskJournal(join(base, 'home'));
  });
  afterEach(async () => {
    await client.close();
    await journal.close();
    await fixture.close();
    await rm(base, { recursive: true, force: true });
  });

  const connect = async (approver: Approver = allowsAll) => {
    const roots = await WorkspaceRoots.open([{ directory: folder }]);
    const warn = (message: string) => warnings.push(message);
    client = new RelayClient({
      url: fixture.server.url,
      token: fixture.user.token,
      workspaceId: fixture.workspaceId,
      clientId: 'round-trip',
      journal,
      tools: {
        workspace_create_file: new CreateFileTool({ roots }, approver, undefined, warn),
        workspace_write_patch: new WritePatchTool({ roots }, approver),
      },
      onWarning: warn,
    });
    await client.connect();
  };
  const call = async (toolCall: object): Promise<ToolResult> => {
    const { body } = await fixture.post([toolCall], { waitMs: 20_000 });
    expect(body.result.toolResults).toHaveLength(1);
    return body.result.toolResults[0]!;
  };
  const create = (path: string, content: string) =>
    call({ toolCallId: 'c', name: 'workspace_create_file', arguments: { path, content } });
  const onDisk = (path: string) => readFile(join(folder, path), 'utf8');
  /** The Cloud's text, and its versions, oldest first. */
  const inCloud = async (path: string) => {
    const { result } = await call({ toolCallId: 'r', name: 'read', arguments: { path } });
    return (result as { content: { text: string } }).content.text;
  };

  it('writes two files and makes both of them the new Cloud truth', async () => {
    await connect();
    await create('Src/A.txt', 'one\ntwo\n');
    await create('b.txt', 'b\n');
    expect(await inCloud('/Repo/Src/A.txt')).toBe('one\ntwo\n');
    const ended = await call(
      patchOf(
        { docPath: 'repo/src/a.txt', original: 'one\ntwo\n', changes: [replace(2, 'two', 'TWO')] },
        { docPath: 'repo/b.txt', original: 'b\n', changes: [replace(1, 'b', 'B')] },
      ),
    );
    expect([ended.status, ended.error, warnings]).toEqual(['succeeded', null, []]);
    const { files } = ended.result as unknown as WritePatchResult;
    expect(files.map(({ status, message }) => [status, message])).toEqual([
      ['applied', null],
      ['applied', null],
    ]);
    expect(files.every(({ versionId }) => versionId !== null)).toBe(true);
    expect([await onDisk('Src/A.txt'), await onDisk('b.txt')]).toEqual(['one\nTWO\n', 'B\n']);
    expect([await inCloud('/Repo/Src/A.txt'), await inCloud('/Repo/b.txt')]).toEqual(['one\nTWO\n', 'B\n']);
  });

  it('is checked against the result of an earlier call of the same turn', async () => {
    await connect();
    const path = 'Src/New.txt';
    const made = { toolCallId: 'c', name: 'workspace_create_file', arguments: { path, content: 'one\n' } };
    const change = replace(1, 'one', 'ONE');
    const patch = patchOf({ docPath: 'repo/src/new.txt', original: 'one\n', changes: [change] });
    const { body } = await fixture.post([made, patch], { waitMs: 20_000 });
    expect(body.result.toolResults).toMatchObject([{ status: 'succeeded' }, { status: 'succeeded' }]);
    expect(await onDisk(path)).toBe('ONE\n');
    expect(await inCloud('/Repo/Src/New.txt')).toBe('ONE\n');
    const again = (content: string) => ({
      ...{ toolCallId: content.trim(), name: 'workspace_create_file' },
      arguments: { path, content, overwrite: true },
    });
    await fixture.post([again('two\n'), again('three\n')], { waitMs: 20_000 });
    expect(await inCloud('/Repo/Src/New.txt')).toBe('three\n');
    expect(warnings).toEqual([]);
  });

  it('does not overwrite in the Cloud the change of a server tool in the same turn', async () => {
    await connect();
    await create('a.txt', 'one\ntwo\n');
    const edit = {
      toolCallId: 'e',
      name: 'edit',
      arguments: { path: '/Repo/a.txt', oldString: 'one', newString: 'ONE' },
    };
    const patch = patchOf({
      docPath: 'repo/a.txt',
      original: 'one\ntwo\n',
      changes: [replace(2, 'two', 'TWO')],
    });
    const { body } = await fixture.post([edit, patch], { waitMs: 20_000 });
    const [edited, patched] = body.result.toolResults;
    expect([edited!.status, patched!.status]).toEqual(['succeeded', 'succeeded']);
    const { files } = patched!.result as unknown as WritePatchResult;
    expect(files).toMatchObject([{ status: 'applied', versionId: null }]);
    expect(files[0]!.message).toContain('STALE');
    expect([await onDisk('a.txt'), await inCloud('/Repo/a.txt')]).toEqual(['one\nTWO\n', 'ONE\ntwo\n']);
  });

  it('writes neither file where one was changed on disk, and names that one', async () => {
    await connect();
    await create('a.txt', 'a\n');
    await create('b.txt', 'b\n');
    await writeFile(join(folder, 'b.txt'), 'mine\n');
    const ended = await call(
      patchOf(
        { docPath: 'repo/a.txt', original: 'a\n', changes: [replace(1, 'a', 'A')] },
        { docPath: 'repo/b.txt', original: 'b\n', changes: [replace(1, 'b', 'B')] },
      ),
    );
    expect(ended).toMatchObject({
      status: 'failed',
      error: { code: 'STALE' },
      result: {
        success: false,
        files: [{ status: 'skipped' }, { status: 'conflict', errorCode: 'STALE' }],
      },
    });
    expect(ended.error!.message).toMatch(/^repo\/b\.txt: The file's sha256 is/);
    expect([await onDisk('a.txt'), await onDisk('b.txt')]).toEqual(['a\n', 'mine\n']);
    expect(await inCloud('/Repo/a.txt')).toBe('a\n');
  });

  it('patches a file that is unknown to the Cloud, and uploads it', async () => {
    await connect();
    await writeFile(join(folder, 'Src', 'New.txt'), 'x\r\ny\r\n');
    const ended = await call(
      patchOf({ docPath: 'repo/src/new.txt', original: 'x\r\ny\r\n', changes: [replace(1, 'x', 'X')] }),
    );
    expect(ended).toMatchObject({ status: 'succeeded', result: { files: [{ message: null }] } });
    expect(await inCloud('/Repo/Src/New.txt')).toBe('X\r\ny\r\n');
  });

  it('tells the model which changes the person rejected, and writes the rest', async () => {
    await connect({
      decide: async ({ files }) => ({
        ...{ decision: 'allow', by: 'ada', at: new Date().toISOString() },
        rejectedChangeIds: [files[0]!.patch!.changes[0]!.changeId!],
      }),
    });
    await writeFile(join(folder, 'a.txt'), '1\n2\n3\n');
    const changes = [
      { operation: 'insert', afterLine: 0, newLines: ['top', 'top'] },
      replace(3, '3', 'three'),
    ];
    const ended = await call(patchOf({ docPath: 'repo/a.txt', original: '1\n2\n3\n', changes }));
    expect(ended).toMatchObject({
      status: 'succeeded',
      result: { files: [{ status: 'applied', changes: [{ status: 'rejected' }, { status: 'applied' }] }] },
    });
    expect([await onDisk('a.txt'), await inCloud('/Repo/a.txt')]).toEqual(['1\n2\nthree\n', '1\n2\nthree\n']);
  });

  it('is denied when the person accepts no change [PATCH-9]', async () => {
    await connect({
      decide: async ({ files }) => ({
        ...{ decision: 'allow', by: 'ada', at: new Date().toISOString(), note: 'Not today.' },
        rejectedChangeIds: files.flatMap(({ patch }) => patch!.changes.map(({ changeId }) => changeId!)),
      }),
    });
    await writeFile(join(folder, 'a.txt'), 'a\n');
    const ended = await call(
      patchOf({ docPath: 'repo/a.txt', original: 'a\n', changes: [replace(1, 'a', 'A')] }),
    );
    expect(ended).toMatchObject({ status: 'denied', result: null, error: { code: 'DENIED' } });
    expect(ended.error!.message).toContain('Not today.');
    expect(await onDisk('a.txt')).toBe('a\n');
  });

  it('can be reverted by another patch', async () => {
    await connect();
    await create('a.txt', 'one\ntwo');
    const ended = await call(
      patchOf({ docPath: 'repo/a.txt', original: 'one\ntwo', changes: [replace(2, 'two', 'TWO')] }),
    );
    const { batchId } = ended.result as unknown as WritePatchResult;
    const path = `/workspaces/${fixture.workspaceId}/patches/${batchId}/revert`;
    const { status } = await fixture.user.post(path, {
      sessionId: fixture.session.sessionId,
      waitMs: 20_000,
    });
    expect(status).toBe(200);
    expect([await onDisk('a.txt'), await inCloud('/Repo/a.txt')]).toEqual(['one\ntwo', 'one\ntwo']);
  });
});
