import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Approval } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import type { ApprovalRequest } from '../approval/approver.js';
import { realFileSystem } from '../disk/file-system.js';
import { CreateFixture, createOf, resultOf } from './create-file-tool.sample.js';
import { allow } from './tool-fixture.sample.js';

describe('an approval to overwrite a file [CREATE-5]', () => {
  const fixture = new CreateFixture();
  beforeEach(async () => {
    await fixture.open();
    await save('seen\n');
  });
  afterEach(() => fixture.close());

  const overwrite = createOf('1', { path: 'a.txt', content: 'new\n', overwrite: true });
  const run = async () => resultOf(await fixture.run(overwrite));
  const save = (text: string) => fixture.write('a.txt', text);
  const onDisk = () => fixture.read('a.txt');
  const shown = () => fixture.person.asked.map(({ files }) => files[0]!.before);
  /** Sets the answer to the `nth` question. */
  const decide = (answer: (nth: number, request: ApprovalRequest) => Promise<Partial<Approval>>) => {
    fixture.person.answer = (request) => answer(fixture.person.asked.length, request);
  };
  const refused = { success: false, errorCode: 'FileExists' };

  it('is requested again with the new text if the file was saved meanwhile', async () => {
    decide(async (nth) => {
      if (nth === 1) await save('saved meanwhile\n');
      return {};
    });
    expect(await run()).toMatchObject({ success: true, overwritten: true });
    expect(shown()).toEqual(['seen\n', 'saved meanwhile\n']);
    const notes = fixture.person.asked.map(({ note }) => note);
    expect(notes).toEqual([undefined, expect.stringContaining('has changed since')]);
  });

  it('keeps the file if the repeated question is denied', async () => {
    decide(async (nth) => {
      if (nth === 1) await save('mine\n');
      return nth === 1 ? {} : { decision: 'deny' };
    });
    expect((await fixture.run(overwrite)).approval).toMatchObject({ decision: 'deny' });
    expect(await onDisk()).toBe('mine\n');
  });

  it("keeps the user's edit when it is requested again", async () => {
    decide(async (nth, { edit }) => {
      if (nth === 2) return {};
      await save('mine\n');
      return { decision: 'edit', ...edit!(['edited\n']) };
    });
    const outcome = await fixture.run(overwrite);
    expect(outcome.approval).toMatchObject({ decision: 'edit', editedArguments: { content: 'edited\n' } });
    expect(fixture.person.asked[1]!.files[0]).toMatchObject({ before: 'mine\n', after: 'edited\n' });
    expect(await onDisk()).toBe('edited\n');
  });

  it('is requested at most 5 times, and the file is kept if it still changes', async () => {
    decide(async (nth) => {
      await save(`version ${nth}\n`);
      return {};
    });
    expect(await run()).toMatchObject(refused);
    expect(fixture.person.asked).toHaveLength(5);
    expect(await onDisk()).toBe('version 5\n');
  });

  it('does not cover a text that was saved before the write', async () => {
    fixture.onStart = () => save('saved late\n');
    const result = await run();
    expect(result).toMatchObject(refused);
    expect(result.message).toContain('was changed after its replacement was approved');
    expect(await onDisk()).toBe('saved late\n');
  });

  it('does not cover a text that was saved during staging, until right before the rename', async () => {
    // Editors save by renaming a new file.
    const saveByRename = async () => {
      await fixture.write('a.txt.tmp', 'saved last\n');
      await rename(join(fixture.folder, 'a.txt.tmp'), join(fixture.folder, 'a.txt'));
    };
    let isStaged = false;
    const lstat: typeof realFileSystem.lstat = async (path) => {
      const stats = await realFileSystem.lstat(path);
      if (isStaged && path.endsWith('a.txt')) {
        isStaged = false;
        await saveByRename();
      }
      if (path.endsWith('.tmp')) isStaged = true;
      return stats;
    };
    fixture.more = { fs: { ...realFileSystem, lstat } };
    expect(await run()).toMatchObject(refused);
    expect(await onDisk()).toBe('saved last\n');
  });

  it('for a new file does not cover a file that was created meanwhile', async () => {
    await rm(join(fixture.folder, 'a.txt'));
    fixture.onStart = () => save('somebody was first\n');
    expect(await run()).toMatchObject(refused);
    expect(await onDisk()).toBe('somebody was first\n');
  });

  it('stays valid if the file was deleted, or already has the new text', async () => {
    fixture.onStart = () => rm(join(fixture.folder, 'a.txt'));
    expect(await run()).toMatchObject({ success: true, created: true });
    fixture.onStart = () => save('new\n');
    await save('seen\n');
    await fixture.journal.forget(['1']);
    expect(await run()).toMatchObject({ success: true, overwritten: true });
  });

  it('is requested again for a changed file that is too large to be shown', async () => {
    fixture.more = { maxFileBytes: 10 };
    await save('x'.repeat(50));
    decide(async (nth) => {
      if (nth === 1) await save('y'.repeat(50));
      return {};
    });
    await fixture.run(overwrite);
    expect(fixture.person.asked.map(({ files }) => files[0]!.hidden)).toEqual(['too_large', 'too_large']);
  });

  it('is journaled with the sha256 of the file, which binds it across a restart', async () => {
    await run();
    const seen = { seen: sha256('seen\n') };
    expect(fixture.journal.get('1')).toMatchObject({ approval: allow, basis: seen });
    await fixture.journal.forget(['1']);
    await fixture.journal.receive(overwrite);
    await fixture.journal.start('1', allow, seen);
    await save('saved while nothing ran\n');
    await fixture.reopen();
    expect(resultOf(await fixture.recover())).toMatchObject(refused);
    expect(await onDisk()).toBe('saved while nothing ran\n');
  });
});
