import { basename } from 'node:path';
import { sha256 } from '@patchbay/protocol/hash';
import { FakeEditor } from './fake-editor.sample.js';
import { batchOf, callOf, insert, resultOf, PatchFixture, untouched } from './write-patch-tool.sample.js';

describe('a patch of open files with unsaved changes', () => {
  const fixture = new PatchFixture();
  const { tool, run, contents } = fixture;
  beforeEach(() => fixture.open());
  afterEach(() => fixture.close());

  const a = () => `${fixture.root}/src/a`;
  const b = () => `${fixture.root}/b`;
  const editorOf = (...texts: [string, string][]): FakeEditor => new FakeEditor(new Map(texts));
  const both = () =>
    batchOf([
      { docPath: a(), original: 'A\n', changes: [insert(1, 'end')] },
      { docPath: b(), original: 'B\n', changes: [insert(0, 'top')] },
    ]);
  const verdicts = (outcome: Awaited<ReturnType<typeof run>>): unknown[] =>
    resultOf(outcome).files.map(({ status, errorCode }) => [status, errorCode]);

  it('is shown, applied in the editor and uploaded without changing the disk [PATCH-11]', async () => {
    const editor = editorOf([a(), 'A\n'], [b(), 'B\n']);
    const outcome = await run(callOf('1', both()), tool(editor));
    expect(fixture.person.asked[0]!.files).toMatchObject([
      { path: `${basename(fixture.folder)}/Src/A`, before: 'A\n', after: 'A\nend\n' },
      { path: `${basename(fixture.folder)}/b`, before: 'B\n', after: 'top\nB\n' },
    ]);
    expect([...editor.texts.values()]).toEqual(['A\nend\n', 'top\nB\n']);
    expect(await contents()).toEqual(untouched);
    expect(resultOf(outcome)).toMatchObject({
      success: true,
      files: [
        { status: 'applied', newSha256: sha256('A\nend\n'), versionId: 'v-a' },
        { status: 'applied', newSha256: sha256('top\nB\n'), versionId: 'v-b' },
      ],
    });
    expect(fixture.uploads.map(({ path, content }) => [path.split('/').slice(2).join('/'), content])).toEqual(
      [
        ['Src/A', Buffer.from('A\nend\n')],
        ['b', Buffer.from('top\nB\n')],
      ],
    );
  });

  it('is checked against the buffer, not the disk [PATCH-11]', async () => {
    const batch = batchOf([{ docPath: a(), original: 'a\n', changes: [insert(1, 'end')] }]);
    const editor = editorOf([a(), 'A\n']);
    expect(verdicts(await run(callOf('1', batch), tool(editor)))).toEqual([['conflict', 'STALE']]);
    expect(fixture.person.asked).toEqual([]);
    expect([...editor.texts.values()]).toEqual(['A\n']);
  });

  it('changes no file if the user has typed in one', async () => {
    const editor = editorOf([a(), 'A\n'], [b(), 'B\n']);
    fixture.person.answer = () => (editor.texts.set(b(), 'B typed\n'), {});
    const outcome = await run(callOf('1', both()), tool(editor));
    expect(verdicts(outcome)).toEqual([
      ['skipped', null],
      ['conflict', 'STALE'],
    ]);
    expect([...editor.texts.values()]).toEqual(['A\n', 'B typed\n']);
    expect(fixture.uploads).toEqual([]);
  });

  it('is rolled back if the editor rejects one file, and says if that fails [PATCH-11]', async () => {
    const editor = editorOf([a(), 'A\n'], [b(), 'B\n']);
    editor.refuses = (docPath) => docPath === b();
    expect(verdicts(await run(callOf('1', both()), tool(editor)))).toEqual([
      ['skipped', null],
      ['failed', 'WriteFailed'],
    ]);
    expect([...editor.texts.values()]).toEqual(['A\n', 'B\n']);
    editor.refuses = (docPath, text) => docPath === b() || text === 'A\n';
    const outcome = await run(callOf('2', both()), tool(editor));
    expect(resultOf(outcome).files[0]).toMatchObject({
      status: 'applied',
      message: expect.stringContaining('could not be restored') as string,
    });
  });

  it('is rejected together with files on disk, and by an editor that cannot change its buffers', async () => {
    const mixed = batchOf([
      { docPath: a(), original: 'A\n', changes: [insert(1, 'end')] },
      { docPath: b(), original: 'b\n', changes: [insert(0, 'top')] },
    ]);
    const editor = editorOf([a(), 'A\n']);
    expect(verdicts(await run(callOf('1', mixed), tool(editor)))).toEqual([
      ['failed', 'DIRTY_BUFFER'],
      ['skipped', null],
    ]);
    const readOnly = { isDirty: () => true, read: (docPath: string) => editor.read(docPath) };
    expect(verdicts(await run(callOf('2', both()), tool(readOnly)))).toEqual([
      ['failed', 'DIRTY_BUFFER'],
      ['failed', 'DIRTY_BUFFER'],
    ]);
    expect([[...editor.texts.values()], await contents()]).toEqual([['A\n'], untouched]);
  });
});
