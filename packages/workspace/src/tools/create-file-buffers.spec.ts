import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import {
  type CreateFileResult,
  createFile,
  type FilePut,
  type JsonObject,
  type ToolCallDelivery,
} from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import type { CallContext, JournalEntry, ToolOutcome } from '@patchbay/client/relay';
import { Ajv } from 'ajv';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import type { OpenBuffers } from '../write-patch/open-buffers.js';
import { CreateFileTool } from './create-file-tool.js';
import { FakeEditor } from './fake-editor.sample.js';
import { Person } from './write-patch-tool.sample.js';

const isValidResult = new Ajv({ allowUnionTypes: true }).compile(createFile.responseSchema);

describe('a create over a file that is open and not saved [CREATE-6]', () => {
  let folder: string;
  let person: Person;
  let uploads: FilePut[];
  /** What happens once the person has decided, before the server has confirmed. */
  let onStart: () => void | Promise<void>;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'patchbay-buffers-'));
    [person, uploads, onStart] = [new Person(), [], () => undefined];
    await writeFile(join(folder, 'a.txt'), 'on disk\n');
  });
  afterEach(() => rm(folder, { recursive: true }));

  const docPath = (name = 'a.txt') => `${basename(folder)}/${name}`.toLowerCase();
  const editorOf = (text = 'typed\n', name?: string) => new FakeEditor(new Map([[docPath(name), text]]));
  const onDisk = () => readFile(join(folder, 'a.txt'), 'utf8');
  const call = (args: JsonObject = {}): ToolCallDelivery => ({
    ...{ callId: '1', attempt: 1, toolCallId: 't', sessionId: 's', conversationId: 'c', turnId: 't' },
    ...{
      name: 'workspace_create_file',
      arguments: { path: 'a.txt', content: 'new\n', overwrite: true, ...args },
    },
    deadlines: { deliveryAt: null, approvalAt: null, executionAt: null },
  });
  const context: CallContext = {
    signal: new AbortController().signal,
    writeLog: { intend: async () => undefined, committing: async () => undefined },
    awaitApproval: async () => undefined,
    start: async () => onStart(),
    putFile: async (file) => (uploads.push(file), { ok: true, versionId: 'v', fileId: 'f', path: '/p/f' }),
  };
  const toolOf = async (buffers: OpenBuffers) =>
    new CreateFileTool({ roots: await WorkspaceRoots.open([{ directory: folder }]), buffers }, person);
  const resultOf = ({ result }: ToolOutcome) => {
    expect([isValidResult(result), isValidResult.errors]).toEqual([true, null]);
    return result as unknown as CreateFileResult;
  };
  const run = async (buffers: OpenBuffers, args?: JsonObject) =>
    resultOf(await (await toolOf(buffers)).run(call(args), context));

  it('is shown against what the person has typed, made in the editor and uploaded, with the disk as it is', async () => {
    const editor = editorOf();
    expect(await run(editor)).toMatchObject({
      ...{ success: true, created: false, overwritten: true, hash: sha256('new\n'), sizeBytes: 4 },
      message: expect.stringContaining('nothing was written on the disk') as string,
    });
    expect(person.asked[0]!.files).toMatchObject([{ before: 'typed\n', after: 'new\n' }]);
    expect([editor.texts.get(docPath()), await onDisk()]).toEqual(['new\n', 'on disk\n']);
    expect(uploads).toMatchObject([
      {
        docPath: docPath(),
        path: `/${basename(folder)}/a.txt`,
        sha256: sha256('new\n'),
        baseSha256: sha256('typed\n'),
      },
    ]);
  });

  it('is asked about again where the person types on meanwhile, and fails where they do so once more', async () => {
    const editor = editorOf();
    person.answer = () => {
      if (person.asked.length === 1) editor.texts.set(docPath(), 'typed on\n');
      return {};
    };
    onStart = () => void editor.texts.set(docPath(), 'typed last\n');
    expect(await run(editor)).toMatchObject({ success: false, errorCode: 'FileExists' });
    expect(person.asked.map(({ files }) => files[0]!.before)).toEqual(['typed\n', 'typed on\n']);
    expect([editor.texts.get(docPath()), await onDisk()]).toEqual(['typed last\n', 'on disk\n']);
    expect(uploads).toEqual([]);
  });

  it('leaves the disk alone where the person has begun to type since they decided, or while it is staged', async () => {
    const editor = new FakeEditor(new Map());
    onStart = () => void editor.texts.set(docPath(), 'typed\n');
    expect(await run(editor)).toMatchObject({ success: false, errorCode: 'FileExists' });
    let looks = 0;
    const late: OpenBuffers = { isDirty: () => (looks += 1) > 3, read: () => Promise.resolve(null) };
    onStart = () => undefined;
    expect(await run(late)).toMatchObject({ success: false, errorCode: 'FileExists' });
    expect(await onDisk()).toBe('on disk\n');
  });

  it('is written on the disk where the person has saved what they saw', async () => {
    const editor = editorOf();
    onStart = async () => {
      editor.texts.clear();
      await writeFile(join(folder, 'a.txt'), 'typed\n');
    };
    expect(await run(editor)).toMatchObject({ success: true, overwritten: true });
    expect(await onDisk()).toBe('new\n');
  });

  it('fails with DIRTY_BUFFER, without asking, where the editor can’t have its text replaced', async () => {
    const editor = editorOf();
    const readOnly = { isDirty: () => true, read: (path: string) => editor.read(path) };
    const blind = { isDirty: () => true };
    for (const buffers of [readOnly, blind]) {
      expect(await run(buffers)).toMatchObject({
        success: false,
        errorCode: 'DIRTY_BUFFER',
        sizeBytes: 0,
        hash: '',
      });
      expect(await run(buffers, { overwrite: false })).toMatchObject({ errorCode: 'FileExists' });
    }
    expect([person.asked, await onDisk()]).toEqual([[], 'on disk\n']);
  });

  it('fails with WriteFailed where the editor refuses the new text', async () => {
    const editor = editorOf();
    editor.refuses = () => true;
    expect(await run(editor)).toMatchObject({ success: false, errorCode: 'WriteFailed' });
    expect(editor.texts.get(docPath())).toBe('typed\n');
  });

  it('is FileExists without overwrite, of a file that was never saved too', async () => {
    for (const name of ['a.txt', 'untitled.txt']) {
      expect(await run(editorOf('typed\n', name), { path: name, overwrite: false })).toMatchObject({
        errorCode: 'FileExists',
      });
    }
    const editor = editorOf('typed\n', 'deep/untitled.txt');
    expect(await run(editor, { path: 'deep/untitled.txt' })).toMatchObject({
      success: true,
      overwritten: true,
    });
    expect([...editor.texts.values()]).toEqual(['new\n']);
    expect(person.asked).toHaveLength(1);
  });

  it('reaches nothing through a link that it would not reach on the disk', async () => {
    await mkdir(join(folder, 'real'));
    await symlink(join(folder, 'real'), join(folder, 'link'));
    expect(await run(editorOf('typed\n', 'link/a.txt'), { path: 'link/a.txt' })).toMatchObject({
      errorCode: 'InvalidPath',
    });
  });

  it('is done once over a death of the client, and never over what was typed since', async () => {
    const interrupted = {
      intents: [],
      committing: false,
      approval: null,
      basis: { seen: sha256('typed\n') },
    };
    const recovered = async (editor: FakeEditor) =>
      resultOf(await (await toolOf(editor)).recover(call(), context, interrupted as unknown as JournalEntry));
    expect(await recovered(editorOf('new\n'))).toMatchObject({ success: true, overwritten: true });
    expect(await recovered(editorOf('typed\n'))).toMatchObject({ success: true });
    const editor = editorOf('typed on\n');
    expect(await recovered(editor)).toMatchObject({ success: false, errorCode: 'FileExists' });
    expect([...editor.texts.values()]).toEqual(['typed on\n']);
  });
});
