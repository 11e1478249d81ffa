import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '@patchbay/protocol/hash';
import { parsePatchBatch } from '@patchbay/protocol/line-patch';
import { EXIT } from './cli-error.js';

import { ConnectScene } from './program-connect.sample.js';

describe('patchbay', () => {
  const scene = new ConnectScene();
  const { patchbay } = scene;
  beforeEach(() => scene.open());
  afterEach(() => scene.close());

  describe('connect', () => {
    it('executes what is allowed, logs it as a JSON line, and ends with a signal', async () => {
      const running = patchbay(['connect', '--root', scene.project, '--allow', 'src/**']);
      await scene.connected();
      const report = await scene.deliver({ path: 'src/a.txt', content: 'x\n' });
      expect(report).toMatchObject({ result: { success: true }, approval: { by: '--allow src/**' } });
      expect(await readFile(join(scene.project, 'src/a.txt'), 'utf8')).toBe('x\n');
      process.emit('SIGTERM');
      expect(await running).toBe(EXIT.ok);
      expect(scene.out.text).toBe('connected\n');
      const line = scene.err.text.split('\n').find((text) => text.startsWith('{'))!;
      expect(JSON.parse(line)).toMatchObject({
        event: 'Tool.CreateFile.Executed',
        ...{ sessionId: 's1', conversationId: 'v1', turnId: 't1', toolCallId: 'c1', callId: 'k1' },
        ...{ path: 'src/a.txt', overwrite: false, success: true, errorCode: null, sizeBytes: 2 },
      });
    });

    it('takes its folder as push and pull do, beside others with --root', async () => {
      const other = join(scene.project, 'other');
      await mkdir(other);
      const inner = join(scene.project, 'inner');
      await mkdir(inner);
      const running = patchbay(['connect', inner, '--root', other, '--yes']);
      await scene.connected();
      await scene.deliver({ path: 'inner/a.txt', content: 'x\n' });
      await scene.deliver({ path: 'other/b.txt', content: 'x\n' }, { callId: 'k2' });
      process.emit('SIGTERM');
      expect(await running).toBe(EXIT.ok);
      expect(await readdir(inner)).toEqual(['a.txt']);
      expect(await readdir(other)).toEqual(['b.txt']);
    });

    it('asks about what the server changes in the Cloud, by the same rules, and changes nothing itself', async () => {
      const running = patchbay(['connect', '--root', scene.project, '--allow', 'proj/**']);
      await scene.connected();
      const args = { path: '/proj/a.txt', content: { text: 'x\n' } };
      const report = await scene.deliver(args, { name: 'write', approvalOnly: true });
      expect(report).toMatchObject({ result: null, approval: { decision: 'allow', by: '--allow proj/**' } });
      process.emit('SIGTERM');
      expect(await running).toBe(EXIT.ok);
      expect(scene.err.text).toContain('write write the Cloud file proj/a.txt (1 line, 2 bytes), allowed by');
    });

    it('patches what is allowed, logs it as a JSON line, and uploads it', async () => {
      await mkdir(join(scene.project, 'Src'));
      await writeFile(join(scene.project, 'Src', 'A.txt'), 'x\n');
      const running = patchbay(['connect', '--root', scene.project, '--allow', 'Src/**']);
      await scene.connected();
      const folder = scene.project.split('/').at(-1)!;
      const patch = {
        filePatchId: 'f1',
        docPath: `${folder.toLowerCase()}/src/a.txt`,
        originalSha256: sha256('x\n'),
      };
      const change = { changeId: 'c1', operation: 'insert', afterLine: 1, newLines: ['y'] };
      const parsed = parsePatchBatch(
        { batchId: 'b1', files: [{ ...patch, changes: [change] }] },
        { trusted: true },
      );
      if (!parsed.ok) throw new Error('The batch is not sound.');
      const report = await scene.deliver({}, { name: 'workspace_write_patch', batch: parsed.batch });
      expect(report).toMatchObject({
        result: { success: true, batchId: 'b1', files: [{ status: 'applied', versionId: 'v1' }] },
        approval: { decision: 'allow', by: '--allow Src/**' },
      });
      expect(await readFile(join(scene.project, 'Src', 'A.txt'), 'utf8')).toBe('x\ny\n');
      expect(scene.uploads).toEqual([`/${folder}/Src/A.txt`]);
      process.emit('SIGTERM');
      expect(await running).toBe(EXIT.ok);
      const line = scene.err.text.split('\n').find((text) => text.startsWith('{'))!;
      expect(JSON.parse(line)).toMatchObject({
        event: 'Tool.WritePatch.Executed',
        ...{
          toolCallId: 'c1',
          callId: 'k1',
          batchId: 'b1',
          files: 1,
          applied: 1,
          success: true,
          errorCode: null,
        },
      });
      expect(scene.err.text).toContain(
        `patch ${folder}/Src/A.txt (1 change: +1 -0 lines), allowed by --allow Src/**`,
      );
    });

    it('writes nothing without a terminal where no rule allows it, and waits', async () => {
      const running = patchbay(['connect', '--root', scene.project, '--allow', 'src/**']);
      await scene.connected();
      void scene.deliver({ path: 'other.txt', content: 'x\n' });
      for (let i = 0; scene.statuses.length === 0 && i < 300; i++)
        await new Promise((r) => setTimeout(r, 10));
      expect(scene.statuses).toEqual(['awaiting_approval']);
      process.emit('SIGINT');
      expect(await running).toBe(EXIT.ok);
      await expect(readFile(join(scene.project, 'other.txt'))).rejects.toThrow('ENOENT');
    });

    it('is the same client at every start in a folder, and another in another', async () => {
      for (const root of [scene.project, scene.project, tmpdir()]) {
        const folder = root === scene.project ? root : join(scene.project, 'inner');
        await mkdir(folder, { recursive: true });
        const running = patchbay(['connect', '--root', folder]);
        await scene.connected();
        process.emit('SIGINT');
        await running;
      }
      const [first, second, third] = scene.clientIds;
      expect(second).toBe(first);
      expect(third).not.toBe(first);
    });

    it('does not run twice in one folder', async () => {
      const running = patchbay(['connect', '--root', scene.project]);
      await scene.connected();
      expect(await patchbay(['connect', '--root', scene.project])).toBe(EXIT.replaced);
      expect(scene.err.text).toMatch(/^patchbay: Another patchbay client \(process \d+\)/);
      process.emit('SIGINT');
      await running;
    });

    it('lets no call into the data of a server that lies in its folder, and says so once', async () => {
      const data = join(scene.project, 'server', '.patchbay');
      await mkdir(data, { recursive: true });
      await writeFile(join(data, 'patchbay.db'), '');
      const running = patchbay(['connect', '--root', scene.project, '--yes']);
      await scene.connected();
      const report = await scene.deliver({ path: 'server/.Patchbay/jwt-secret', content: 'x' });
      expect(report.result).toMatchObject({ success: false, errorCode: 'InvalidPath' });
      process.emit('SIGTERM');
      expect(await running).toBe(EXIT.ok);
      expect(scene.err.text.match(/Calls may not write into .*server\/\.patchbay/g)).toHaveLength(1);
    });

    it.each(['', '1'])('takes PATCHBAY_MAX_FILE_BYTES=%p, of which an empty one is unset', async (limit) => {
      process.env.PATCHBAY_MAX_FILE_BYTES = limit;
      const running = patchbay(['connect', '--root', scene.project, '--yes']).finally(
        () => delete process.env.PATCHBAY_MAX_FILE_BYTES,
      );
      await scene.connected();
      const report = await scene.deliver({ path: 'a.txt', content: 'xx' });
      expect(report.result).toMatchObject({ errorCode: limit === '' ? null : 'TooLarge' });
      process.emit('SIGTERM');
      expect(await running).toBe(EXIT.ok);
    });

    it('refuses a folder that holds its own home', async () => {
      expect(await patchbay(['connect', '--root', scene.home])).toBe(EXIT.usage);
      expect(scene.err.text).toContain('set PATCHBAY_HOME elsewhere');
    });

    it('says in one line that the server does not let it in', async () => {
      scene.io
        .of('/relay')
        .use((_socket, next) =>
          next(
            Object.assign(new Error('No.'), { data: { code: 'FORBIDDEN', message: 'You are no member.' } }),
          ),
        );
      expect(await patchbay(['connect', '--root', scene.project])).toBe(EXIT.refused);
      expect(scene.err.text).toMatch(/^patchbay: You are no member\. Ask an owner/);
    });
  });
});
