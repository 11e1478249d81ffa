import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '@patchbay/protocol/hash';
import { parsePatchBatch } from '@patchbay/protocol/line-patch';
import { EXIT } from './cli-error.js';

import { ConnectFixture } from './program-connect.sample.js';

describe('patchbay', () => {
  const fixture = new ConnectFixture();
  const { patchbay } = fixture;
  beforeEach(() => fixture.open());
  afterEach(() => fixture.close());

  describe('connect', () => {
    it('executes allowed calls, logs them as JSON lines, and ends with a signal', async () => {
      const running = patchbay(['connect', '--root', fixture.project, '--allow', 'src/**']);
      await fixture.connected();
      const report = await fixture.deliver({ path: 'src/a.txt', content: 'x\n' });
      expect(report).toMatchObject({ result: { success: true }, approval: { by: '--allow src/**' } });
      expect(await readFile(join(fixture.project, 'src/a.txt'), 'utf8')).toBe('x\n');
      process.emit('SIGTERM');
      expect(await running).toBe(EXIT.ok);
      expect(fixture.out.text).toBe('connected\n');
      const line = fixture.err.text.split('\n').find((text) => text.startsWith('{'))!;
      expect(JSON.parse(line)).toMatchObject({
        event: 'Tool.CreateFile.Executed',
        ...{ sessionId: 's1', conversationId: 'v1', turnId: 't1', toolCallId: 'c1', callId: 'k1' },
        ...{ path: 'src/a.txt', overwrite: false, success: true, errorCode: null, sizeBytes: 2 },
      });
    });

    it('takes its folder as an argument like push and pull, and others with --root', async () => {
      const other = join(fixture.project, 'other');
      await mkdir(other);
      const inner = join(fixture.project, 'inner');
      await mkdir(inner);
      const running = patchbay(['connect', inner, '--root', other, '--yes']);
      await fixture.connected();
      await fixture.deliver({ path: 'inner/a.txt', content: 'x\n' });
      await fixture.deliver({ path: 'other/b.txt', content: 'x\n' }, { callId: 'k2' });
      process.emit('SIGTERM');
      expect(await running).toBe(EXIT.ok);
      expect(await readdir(inner)).toEqual(['a.txt']);
      expect(await readdir(other)).toEqual(['b.txt']);
    });

    it('asks about Cloud changes of the server by the same rules, and changes nothing itself', async () => {
      const running = patchbay(['connect', '--root', fixture.project, '--allow', 'proj/**']);
      await fixture.connected();
      const args = { path: '/proj/a.txt', content: { text: 'x\n' } };
      const report = await fixture.deliver(args, { name: 'write', approvalOnly: true });
      expect(report).toMatchObject({ result: null, approval: { decision: 'allow', by: '--allow proj/**' } });
      process.emit('SIGTERM');
      expect(await running).toBe(EXIT.ok);
      expect(fixture.err.text).toContain(
        'write write the Cloud file proj/a.txt (1 line, 2 bytes), allowed by',
      );
    });

    it('applies an allowed patch, logs it as a JSON line, and uploads it', async () => {
      await mkdir(join(fixture.project, 'Src'));
      await writeFile(join(fixture.project, 'Src', 'A.txt'), 'x\n');
      const running = patchbay(['connect', '--root', fixture.project, '--allow', 'Src/**']);
      await fixture.connected();
      const folder = fixture.project.split('/').at(-1)!;
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
      const report = await fixture.deliver({}, { name: 'workspace_write_patch', batch: parsed.batch });
      expect(report).toMatchObject({
        result: { success: true, batchId: 'b1', files: [{ status: 'applied', versionId: 'v1' }] },
        approval: { decision: 'allow', by: '--allow Src/**' },
      });
      expect(await readFile(join(fixture.project, 'Src', 'A.txt'), 'utf8')).toBe('x\ny\n');
      expect(fixture.uploads).toEqual([`/${folder}/Src/A.txt`]);
      process.emit('SIGTERM');
      expect(await running).toBe(EXIT.ok);
      const line = fixture.err.text.split('\n').find((text) => text.startsWith('{'))!;
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
      expect(fixture.err.text).toContain(
        `patch ${folder}/Src/A.txt (1 change: +1 -0 lines), allowed by --allow Src/**`,
      );
    });

    it('writes nothing without a terminal if no rule allows it, and waits', async () => {
      const running = patchbay(['connect', '--root', fixture.project, '--allow', 'src/**']);
      await fixture.connected();
      void fixture.deliver({ path: 'other.txt', content: 'x\n' });
      for (let i = 0; fixture.statuses.length === 0 && i < 300; i++)
        await new Promise((r) => setTimeout(r, 10));
      expect(fixture.statuses).toEqual(['awaiting_approval']);
      process.emit('SIGINT');
      expect(await running).toBe(EXIT.ok);
      await expect(readFile(join(fixture.project, 'other.txt'))).rejects.toThrow('ENOENT');
    });

    it('is the same client at every start in a folder, and another in another folder', async () => {
      for (const root of [fixture.project, fixture.project, tmpdir()]) {
        const folder = root === fixture.project ? root : join(fixture.project, 'inner');
        await mkdir(folder, { recursive: true });
        const running = patchbay(['connect', '--root', folder]);
        await fixture.connected();
        process.emit('SIGINT');
        await running;
      }
      const [first, second, third] = fixture.clientIds;
      expect(second).toBe(first);
      expect(third).not.toBe(first);
    });

    it('does not run twice in one folder', async () => {
      const running = patchbay(['connect', '--root', fixture.project]);
      await fixture.connected();
      expect(await patchbay(['connect', '--root', fixture.project])).toBe(EXIT.replaced);
      expect(fixture.err.text).toMatch(/^patchbay: Another patchbay client \(process \d+\)/);
      process.emit('SIGINT');
      await running;
    });

    it('lets no call into server data in its folder, and says so once', async () => {
      const data = join(fixture.project, 'server', '.patchbay');
      await mkdir(data, { recursive: true });
      await writeFile(join(data, 'patchbay.db'), '');
      const running = patchbay(['connect', '--root', fixture.project, '--yes']);
      await fixture.connected();
      const report = await fixture.deliver({ path: 'server/.Patchbay/jwt-secret', content: 'x' });
      expect(report.result).toMatchObject({ success: false, errorCode: 'InvalidPath' });
      process.emit('SIGTERM');
      expect(await running).toBe(EXIT.ok);
      expect(fixture.err.text.match(/Calls cannot write into .*server\/\.patchbay/g)).toHaveLength(1);
    });

    it.each(['', '1'])('accepts PATCHBAY_MAX_FILE_BYTES=%p, where empty counts as unset', async (limit) => {
      process.env.PATCHBAY_MAX_FILE_BYTES = limit;
      const running = patchbay(['connect', '--root', fixture.project, '--yes']).finally(
        () => delete process.env.PATCHBAY_MAX_FILE_BYTES,
      );
      await fixture.connected();
      const report = await fixture.deliver({ path: 'a.txt', content: 'xx' });
      expect(report.result).toMatchObject({ errorCode: limit === '' ? null : 'TooLarge' });
      process.emit('SIGTERM');
      expect(await running).toBe(EXIT.ok);
    });

    it('rejects a folder that contains its own home', async () => {
      expect(await patchbay(['connect', '--root', fixture.home])).toBe(EXIT.usage);
      expect(fixture.err.text).toContain('set PATCHBAY_HOME elsewhere');
    });

    it('says in one line that the server refuses it', async () => {
      fixture.io
        .of('/relay')
        .use((_socket, next) =>
          next(
            Object.assign(new Error('No.'), { data: { code: 'FORBIDDEN', message: 'You are no member.' } }),
          ),
        );
      expect(await patchbay(['connect', '--root', fixture.project])).toBe(EXIT.refused);
      expect(fixture.err.text).toMatch(/^patchbay: You are no member\. Ask an owner/);
    });
  });
});
