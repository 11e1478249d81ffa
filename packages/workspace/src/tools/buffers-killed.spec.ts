import type { CallContext, JournalEntry } from '@patchbay/client/relay';
import { sha256 } from '@patchbay/protocol/hash';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import { FakeEditor } from './fake-editor.sample.js';
import { textEditor } from './text-editor.js';
import { Person } from './tool-fixture.sample.js';
import { batchOf, callOf, insert, PatchFixture, resultOf } from './write-patch-tool.sample.js';
import { WritePatchTool } from './write-patch-tool.js';

const forever = new Promise<never>(() => {});

/** An editor whose client is killed right before or after a change. */
class DyingEditor extends FakeEditor {
  private die!: () => void;
  readonly dead = new Promise<void>((resolve) => (this.die = resolve));

  constructor(
    texts: [string, string][],
    private readonly at: { docPath: string; isMade: boolean } | null,
  ) {
    super(new Map(texts));
  }

  override async apply(docPath: string, expected: string, bytes: Uint8Array): Promise<boolean> {
    if (docPath !== this.at?.docPath) return super.apply(docPath, expected, bytes);
    if (this.at.isMade) await super.apply(docPath, expected, bytes);
    this.die();
    return forever;
  }
}

describe('a patch of open files after a crash', () => {
  const fixture = new PatchFixture();
  beforeEach(() => fixture.open());
  afterEach(() => fixture.close());

  const a = () => `${fixture.root}/src/a`;
  const b = () => `${fixture.root}/b`;
  const call = () =>
    callOf(
      '1',
      batchOf([
        { docPath: a(), original: 'A\n', changes: [insert(1, 'end')] },
        { docPath: b(), original: 'B\n', changes: [insert(0, 'top')] },
      ]),
    );
  const texts = (): [string, string][] => [
    [a(), 'A\n'],
    [b(), 'B\n'],
  ];
  /** Runs the call until the client is killed. */
  const killed = async (at: { docPath: string; isMade: boolean } | null): Promise<FakeEditor> => {
    const editor = new DyingEditor(texts(), at);
    await fixture.journal.receive(call());
    const context = fixture.contextOf('1');
    const reporting = new Promise<void>((resolve) => {
      const putFile: CallContext['putFile'] = () => (resolve(), forever);
      void fixture.tool(editor).run(call(), { ...context, putFile });
    });
    await (at === null ? reporting : editor.dead);
    return new FakeEditor(editor.texts);
  };
  const interrupted = () => fixture.journal.get('1')!;
  /** The tool of the restarted client, in whose queue no call is left. */
  const next = async (buffers: FakeEditor) =>
    new WritePatchTool(
      { roots: await WorkspaceRoots.open([{ directory: fixture.folder }]), buffers },
      fixture.person,
    );
  const recovered = async (editor: FakeEditor) =>
    resultOf(await (await next(editor)).recover(call(), fixture.contextOf('1'), interrupted()));
  const verdicts = ({ files }: Awaited<ReturnType<typeof recovered>>) =>
    files.map(({ status, errorCode }) => [status, errorCode]);
  const MADE = ['A\nend\n', 'top\nB\n'];

  it('is completed and uploaded if a part was applied', async () => {
    const editor = await killed({ docPath: b(), isMade: false });
    const result = await recovered(editor);
    expect(result).toMatchObject({
      success: true,
      files: [
        { status: 'applied', newSha256: sha256(MADE[0]!), versionId: 'v-a' },
        { status: 'applied', newSha256: sha256(MADE[1]!), versionId: 'v-b' },
      ],
    });
    expect([...editor.texts.values()]).toEqual(MADE);
    expect(fixture.uploads.map(({ sha256: sent }) => sent)).toEqual(MADE.map((text) => sha256(text)));
  });

  it('succeeds without applying it again if all was applied', async () => {
    const editor = await killed({ docPath: b(), isMade: true });
    editor.refuses = () => true;
    expect((await recovered(editor)).success).toBe(true);
    expect([...editor.texts.values()]).toEqual(MADE);
  });

  it('succeeds if the applied texts were saved since', async () => {
    await killed({ docPath: b(), isMade: true });
    await fixture.write('Src/A', MADE[0]!);
    await fixture.write('b', MADE[1]!);
    const result = await recovered(new FakeEditor(new Map()));
    expect(result.files.map(({ status, versionId }) => [status, versionId])).toEqual([
      ['applied', 'v-a'],
      ['applied', 'v-b'],
    ]);
  });

  it('succeeds if it was journaled as applied, whatever was typed since', async () => {
    const editor = await killed(null);
    editor.texts.set(a(), 'typed on\n');
    expect((await recovered(editor)).success).toBe(true);
    expect(editor.texts.get(a())).toBe('typed on\n');
  });

  it('is applied with its approval if nothing was applied', async () => {
    const editor = await killed({ docPath: a(), isMade: false });
    expect((await recovered(editor)).success).toBe(true);
    expect([...editor.texts.values()]).toEqual(MADE);
    expect(fixture.person.asked).toHaveLength(1);
  });

  it('reports the applied part if another file has changed since', async () => {
    const editor = await killed({ docPath: b(), isMade: false });
    editor.texts.set(b(), 'typed\n');
    const result = await recovered(editor);
    expect([result.success, verdicts(result)]).toEqual([
      false,
      [
        ['applied', null],
        ['conflict', 'STALE'],
      ],
    ]);
    expect([...editor.texts.values()]).toEqual([MADE[0], 'typed\n']);
  });

  it('reports the applied part if the editor rejects the rest', async () => {
    const editor = await killed({ docPath: b(), isMade: false });
    editor.refuses = () => true;
    expect(verdicts(await recovered(editor))).toEqual([
      ['applied', null],
      ['failed', 'WriteFailed'],
    ]);
  });

  it('is settled before the connection only if something was applied', async () => {
    const settled = async (editor: FakeEditor) => {
      const said: unknown[] = [];
      const ended = async (result: unknown) => void said.push(result);
      const notRun = async () => void said.push('not run');
      const context = { writeLog: fixture.journal.writeLog('1'), ended, notRun };
      await (await next(editor)).settle(call(), context, interrupted());
      return said;
    };
    const editor = await killed({ docPath: b(), isMade: false });
    // An editor that has not reopened its files yet.
    expect(await settled(new FakeEditor(new Map()))).toEqual(['not run']);
    expect(await settled(editor)).toMatchObject([{ success: true }]);
    expect([...editor.texts.values()]).toEqual(MADE);
  });

  it('is not started if the journal cannot be written', async () => {
    const editor = new FakeEditor(new Map(texts()));
    await fixture.journal.receive(call());
    const context = fixture.contextOf('1');
    const writeLog = { ...context.writeLog, intend: () => Promise.reject(new Error('full')) };
    const result = resultOf(await fixture.tool(editor).run(call(), { ...context, writeLog }));
    expect(verdicts(result)).toEqual([
      ['failed', 'WriteFailed'],
      ['failed', 'WriteFailed'],
    ]);
    expect([...editor.texts.values()]).toEqual(['A\n', 'B\n']);
  });
});

describe('a patch of texts in memory after a crash', () => {
  const batch = batchOf([
    { docPath: 'notes/a', original: 'A\n', changes: [insert(1, 'end')] },
    { docPath: 'notes/b', original: 'B\n', changes: [insert(0, 'top')] },
  ]);
  const MADE = ['A\nend\n', 'top\nB\n'];

  it.each([
    ['before the second text was set', false],
    ['after the second text was set', true],
  ])('%s is completed without setting a text again', async (_when, isMade) => {
    const texts = new Map([
      ['notes/a', 'A\n'],
      ['notes/b', 'B\n'],
    ]);
    let entry = {} as JournalEntry;
    const put = async () => ({ ok: true, versionId: 'v', fileId: 'f', path: '/p/f' }) as const;
    const context: CallContext = {
      signal: new AbortController().signal,
      writeLog: { intend: async () => undefined, committing: async () => undefined },
      ...{ awaitApproval: async () => undefined, putFile: put },
      start: async (approval = null, basis = null) => void (entry = { ...entry, approval, basis }),
    };
    const toolOf = (set: (docPath: string, text: string) => unknown) => {
      const holder = { get: (docPath: string) => texts.get(docPath), set };
      const { tools } = textEditor({ name: 'notes', rootId: '', texts: holder, approver: new Person() });
      return tools.workspace_write_patch as unknown as ReturnType<PatchFixture['tool']>;
    };
    await new Promise<void>((resolve) => {
      const dying = toolOf((docPath, text) => {
        if (docPath === 'notes/a' || isMade) texts.set(docPath, text);
        return docPath === 'notes/a' ? undefined : (resolve(), forever);
      });
      void dying.run(callOf('1', batch), context);
    });
    const set: string[] = [];
    const restarted = toolOf((docPath, text) => (set.push(docPath), texts.set(docPath, text)));
    expect(resultOf(await restarted.recover(callOf('1', batch), context, entry))).toMatchObject({
      success: true,
      files: [
        { status: 'applied', newSha256: sha256(MADE[0]!), versionId: 'v' },
        { status: 'applied', newSha256: sha256(MADE[1]!), versionId: 'v' },
      ],
    });
    expect([[...texts.values()], set]).toEqual([MADE, isMade ? [] : ['notes/b']]);
  });
});
