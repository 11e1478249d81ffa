import { mkdir, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { JsonObject } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import type { JournalEntry } from '@patchbay/client/relay';
import type { OpenBuffers } from '../write-patch/open-buffers.js';
import { CreateFixture, createOf, resultOf } from './create-file-tool.sample.js';
import { FakeEditor } from './fake-editor.sample.js';

describe('a create over an open file with unsaved changes [CREATE-6]', () => {
  const fixture = new CreateFixture();
  beforeEach(async () => {
    await fixture.open();
    await fixture.write('a.txt', 'on disk\n');
  });
  afterEach(() => fixture.close());

  const docPath = (name = 'a.txt') => `${fixture.root}/${name}`;
  const editorOf = (text = 'typed\n', name?: string) => new FakeEditor(new Map([[docPath(name), text]]));
  const onDisk = () => fixture.read('a.txt');
  const asked = () => fixture.person.asked;
  let calls = 0;
  const call = (args: JsonObject = {}) =>
    createOf(`${(calls += 1)}`, { path: 'a.txt', content: 'new\n', overwrite: true, ...args });
  const run = async (buffers: OpenBuffers, args?: JsonObject) =>
    resultOf(await fixture.run(call(args), fixture.tool(buffers)));
  const refused = { success: false, errorCode: 'FileExists' };

  it('shows the unsaved text, replaces it in the editor and uploads it, without changing the disk', async () => {
    const editor = editorOf();
    expect(await run(editor)).toMatchObject({
      ...{ success: true, created: false, overwritten: true, hash: sha256('new\n'), sizeBytes: 4 },
      message: expect.stringContaining('nothing was written on the disk') as string,
    });
    expect(asked()[0]!.files).toMatchObject([{ before: 'typed\n', after: 'new\n' }]);
    expect([editor.texts.get(docPath()), await onDisk()]).toEqual(['new\n', 'on disk\n']);
    expect(fixture.uploads).toMatchObject([
      {
        ...{ docPath: docPath(), path: `/${basename(fixture.folder)}/a.txt` },
        ...{ sha256: sha256('new\n'), baseSha256: sha256('typed\n') },
      },
    ]);
  });

  it('asks again if the text changes before the decision, and fails if it changes after', async () => {
    const editor = editorOf();
    fixture.person.answer = () => {
      if (asked().length === 1) editor.texts.set(docPath(), 'typed on\n');
      return {};
    };
    fixture.onStart = () => void editor.texts.set(docPath(), 'typed last\n');
    expect(await run(editor)).toMatchObject(refused);
    expect(asked().map(({ files }) => files[0]!.before)).toEqual(['typed\n', 'typed on\n']);
    expect([editor.texts.get(docPath()), await onDisk()]).toEqual(['typed last\n', 'on disk\n']);
    expect(fixture.uploads).toEqual([]);
  });

  it('keeps the disk if the user starts typing after the decision or during staging', async () => {
    const editor = new FakeEditor(new Map());
    fixture.onStart = () => void editor.texts.set(docPath(), 'typed\n');
    expect(await run(editor)).toMatchObject(refused);
    let queries = 0;
    const late: OpenBuffers = { isDirty: () => (queries += 1) > 3, read: () => Promise.resolve(null) };
    fixture.onStart = () => undefined;
    expect(await run(late)).toMatchObject(refused);
    expect(await onDisk()).toBe('on disk\n');
  });

  it('writes to the disk if the user has saved the text that was shown', async () => {
    const editor = editorOf();
    fixture.onStart = async () => {
      editor.texts.clear();
      await fixture.write('a.txt', 'typed\n');
    };
    expect(await run(editor)).toMatchObject({ success: true, overwritten: true });
    expect(await onDisk()).toBe('new\n');
  });

  it('answers DIRTY_BUFFER without asking if the editor cannot replace its text', async () => {
    const editor = editorOf();
    const readOnly = { isDirty: () => true, read: (path: string) => editor.read(path) };
    const blind = { isDirty: () => true };
    const dirty = { success: false, errorCode: 'DIRTY_BUFFER', sizeBytes: 0, hash: '' };
    for (const buffers of [readOnly, blind]) {
      expect(await run(buffers)).toMatchObject(dirty);
      expect(await run(buffers, { overwrite: false })).toMatchObject(refused);
    }
    expect([asked(), await onDisk()]).toEqual([[], 'on disk\n']);
  });

  it('answers WriteFailed if the editor rejects the new text', async () => {
    const editor = editorOf();
    editor.refuses = () => true;
    expect(await run(editor)).toMatchObject({ success: false, errorCode: 'WriteFailed' });
    expect(editor.texts.get(docPath())).toBe('typed\n');
  });

  it('answers FileExists without overwrite, also for a file that was never saved', async () => {
    for (const name of ['a.txt', 'untitled.txt'])
      expect(await run(editorOf('typed\n', name), { path: name, overwrite: false })).toMatchObject(refused);
    const editor = editorOf('typed\n', 'deep/untitled.txt');
    expect(await run(editor, { path: 'deep/untitled.txt' })).toMatchObject({ overwritten: true });
    expect([...editor.texts.values()]).toEqual(['new\n']);
    expect(asked()).toHaveLength(1);
  });

  it('rejects a path through a link', async () => {
    await mkdir(join(fixture.folder, 'real'));
    await symlink(join(fixture.folder, 'real'), join(fixture.folder, 'link'));
    const answer = await run(editorOf('typed\n', 'link/a.txt'), { path: 'link/a.txt' });
    expect(answer).toMatchObject({ errorCode: 'InvalidPath' });
  });

  it('is applied once across a crash, and never over text that was typed since', async () => {
    const seen = { intents: [], committing: false, approval: null, basis: { seen: sha256('typed\n') } };
    const recovered = async (editor: FakeEditor) => {
      const [one, tool] = [call(), fixture.tool(editor)];
      const interrupted = seen as unknown as JournalEntry;
      return resultOf(fixture.checked(await tool.recover(one, fixture.contextOf(one.callId), interrupted)));
    };
    expect(await recovered(editorOf('new\n'))).toMatchObject({ success: true, overwritten: true });
    expect(await recovered(editorOf('typed\n'))).toMatchObject({ success: true });
    const editor = editorOf('typed on\n');
    expect(await recovered(editor)).toMatchObject(refused);
    expect([...editor.texts.values()]).toEqual(['typed on\n']);
  });
});
