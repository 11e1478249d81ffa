import type {
  BatchView,
  ChangeDetails,
  InvokeResult,
  Session,
  ToolCallDelivery,
  TurnResult,
} from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { FakeClient } from '../support/fake-client.js';
import { readTrail } from '../support/invariants.js';
import { DOC, patchCall, replaceTwo, TEXT } from '../support/patch-fixture.js';
import { oneServer } from '../support/server.js';
import type { TestUser } from '../support/test-user.js';
import { APPROVAL, expectIn, expectNotIn, ViewersFixture } from '../support/viewers-fixture.js';

type TurnAnswer = InvokeResult<TurnResult>;
const OTHER = 'repo/src/b.txt';
const EDITED = 'one\nEDITED\nthree\n';

/** Words that a viewer must not find, by who may find them. */
const PROPOSED = ['the label', 'the key', 'PROPOSED', 'REJECTED', 'why it is rejected', 'OTHER FILE'];
const SAID = ['CLIENT SAYS', 'LINE OF THE DISK', 'HINT OF THE CLIENT'];

/** Ben has made it, Ada is an owner, Cleo another member. */
describe('a batch', () => {
  const server = oneServer();
  const setup = new ViewersFixture(server);
  const { write, put, base } = setup.patches;
  beforeEach(() => setup.open());
  afterEach(() => setup.fixture.close());

  /** All that one of them gets of a batch, by every route and tool. */
  async function seenBy(user: TestUser, { batchId, files }: NonNullable<ToolCallDelivery['batch']>) {
    const read = async <T>(path: string): Promise<T> => {
      const answer = await user.get<T>(`${base()}/${path}`);
      expect([path, answer.status]).toEqual([path, 200]);
      return answer.body;
    };
    const batch = await read<BatchView>(`patches/${batchId}`);
    const diff = await read<string>(`patches/${batchId}/diff`);
    const [changes, ofTool, diffs]: [ChangeDetails[], unknown[], string[]] = [[], [], []];
    for (const { filePatchId, changes: all } of files) {
      diffs.push(await read<string>(`patches/${batchId}/diff?filePatchId=${filePatchId}`));
      for (const { changeId } of all) {
        changes.push(await read(`changes/${changeId}`));
        const call = { tool: 'get_patch_change', args: { changeId } };
        const told = await user.post<{ result: ChangeDetails }>(`${base()}/tools`, call);
        expect(told.body.result).toEqual(changes.at(-1));
        ofTool.push(await inATurn(user, changeId!));
      }
    }
    expect(ofTool).toEqual(changes);
    return { batch, diff, diffs, changes, text: JSON.stringify({ batch, diff, diffs, changes }) };
  }

  async function inATurn(user: TestUser, changeId: string): Promise<unknown> {
    const { body: session } = await user.post<Session>(`${base()}/sessions`, {});
    const call = { toolCallId: 'g', name: 'get_patch_change', arguments: { changeId } };
    const path = `${base()}/sessions/${session.sessionId}/turns`;
    return (await user.post<TurnAnswer>(path, { toolCalls: [call] })).body.result.toolResults[0]!.result;
  }

  /** Of two changes of one file the second is rejected, and so is another file; the first is edited before it is applied. */
  async function partlyApplied(): Promise<NonNullable<ToolCallDelivery['batch']>> {
    await write(`/${DOC}`, TEXT);
    await write(`/${OTHER}`, 'b\n');
    const changes = (first: string) => [
      replaceTwo({ newLines: [first], description: 'why it is applied' }),
      {
        ...{ operation: 'insert', afterLine: 3, newLines: ['REJECTED'] },
        ...{ changeKey: 'k2', description: 'why it is rejected' },
      },
    ];
    const other = [{ operation: 'insert', afterLine: 1, newLines: ['OTHER FILE'], description: null }];
    const proposal = (first: string) =>
      patchCall([{ changes: changes(first) }, { docPath: OTHER, sha: sha256('b\n'), changes: other }], {
        ...{ batchKey: 'the key', batchLabel: 'the label' },
      });
    await setup.fixture.post([proposal('PROPOSED')]);
    const call = await setup.client.delivery();
    const uploaded = await put(call, 0, EDITED);
    if (!uploaded.ok) throw new Error(uploaded.error.message);
    const [first, second] = call.batch!.files;
    const [applied, rejected] = first!.changes;
    const file = { filePatchId: first!.filePatchId, status: 'applied', newSha256: sha256(EDITED) };
    const result = {
      ...{ success: true, batchId: call.batch!.batchId },
      files: [
        {
          ...{ ...file, versionId: uploaded.versionId, message: 'CLIENT SAYS' },
          changes: [
            { changeId: applied!.changeId, status: 'applied', message: 'CLIENT SAYS' },
            {
              ...{ changeId: rejected!.changeId, status: 'rejected', message: 'CLIENT SAYS' },
              details: { actualLines: [{ line: 3, text: 'LINE OF THE DISK' }], hint: 'HINT OF THE CLIENT' },
            },
          ],
        },
        {
          ...{ filePatchId: second!.filePatchId, status: 'rejected', message: 'CLIENT SAYS' },
          changes: [{ changeId: second!.changes[0]!.changeId, status: 'rejected' }],
        },
      ],
    };
    const approval = { ...APPROVAL, decision: 'edit', editedArguments: proposal('EDITED').arguments };
    expect(await setup.client.report(call, { result, approval })).toEqual({ ok: true });
    return call.batch!;
  }

  it('that was partly applied is shown in full to its user, without client texts to an owner, and only as applied to a member [MEMBER-5]', async () => {
    const batch = await partlyApplied();
    const own = await seenBy(setup.ben, batch);
    expectIn(own.text, [...PROPOSED, ...SAID, 'EDITED']);

    const owner = await seenBy(setup.ada, batch);
    expectIn(owner.text, [...PROPOSED, 'EDITED']);
    expectNotIn(owner.text, SAID);
    expect(owner.batch.files.map(({ outcome }) => outcome)).toMatchObject([
      { status: 'applied', newSha256: sha256(EDITED), message: null },
      { status: 'rejected', message: null },
    ]);

    const member = await seenBy(setup.cleo, batch);
    expectIn(member.text, ['EDITED', 'why it is applied', sha256(TEXT), sha256(EDITED)]);
    expectNotIn(member.text, [...PROPOSED, ...SAID, sha256('b\n')]);
    const [applied, rejected] = batch.files[0]!.changes;
    const { changeId } = batch.files[1]!.changes[0]!;
    const withheld = { operation: null, outcome: { status: 'rejected', errorCode: null, message: null } };
    expect(member.batch).toMatchObject({ batchId: batch.batchId, status: 'succeeded', effective: null });
    expect(member.batch.files.map(({ changes }) => changes)).toEqual([
      [
        expect.objectContaining({ changeId: applied!.changeId, newLines: ['EDITED'] }),
        { changeId: rejected!.changeId, ...withheld },
      ],
      [{ changeId, ...withheld }],
    ]);
    expect(member.diff).toBe(member.diffs[0]);
    expect(member.diffs[1]).toBe('');
  });

  it('that is pending shows a member only ids and no diff [MEMBER-5]', async () => {
    await write(`/${DOC}`, TEXT);
    await setup.fixture.post([patchCall([{ changes: [replaceTwo({ newLines: ['PROPOSED'] })] }])]);
    const { batch } = await setup.client.delivery();
    for (const user of [setup.ben, setup.ada]) expectIn((await seenBy(user, batch!)).diff, ['+PROPOSED']);
    const member = await seenBy(setup.cleo, batch!);
    expectNotIn(member.text, [...PROPOSED, 'two', sha256(TEXT), 'Louder']);
    const { changeId } = batch!.files[0]!.changes[0]!;
    expect(member.batch.files).toMatchObject([
      { docPath: DOC, outcome: null, changes: [{ changeId, operation: null, outcome: null }] },
    ]);
    expect(member.diff).toBe('');
  });

  it('that failed on the disk shows an owner codes, a member statuses [MEMBER-5]', async () => {
    await write(`/${DOC}`, TEXT);
    await setup.fixture.post([patchCall()], { turnId: 't' });
    const { batch } = await setup.client.delivery();
    const failed = { status: 'failed', errorCode: 'LINES_MISMATCH', message: 'CLIENT SAYS' };
    const [file] = batch!.files;
    const details = {
      actualLines: [{ line: 2, text: 'LINE OF THE DISK' }],
      ...{ hint: 'HINT OF THE CLIENT', currentSha256: sha256('disk'), foundAt: 7117, lineCount: 7227 },
    };
    const result = {
      ...{ success: false, batchId: batch!.batchId },
      files: [
        {
          ...{ filePatchId: file!.filePatchId, ...failed, status: 'conflict', newSha256: sha256('written') },
          changes: [{ changeId: file!.changes[0]!.changeId, ...failed, details }],
        },
      ],
    };
    expect(await setup.client.report(setup.client.calls[0]!, { result })).toEqual({ ok: true });
    const own = await seenBy(setup.ben, batch!);
    expectIn(own.text, [...SAID, sha256('disk')]);

    const owner = await seenBy(setup.ada, batch!);
    expectIn(owner.text, ['TWO', sha256(TEXT)]);
    expectNotIn(owner.text, [...SAID, sha256('disk'), ':7117', ':7227']);
    expect(owner.batch).toMatchObject({ status: 'failed', error: { code: 'LINES_MISMATCH' } });
    const outcome = { status: 'failed', errorCode: 'LINES_MISMATCH', message: null };
    expect(owner.changes[0]).toMatchObject({ change: { outcome }, fileOutcome: { status: 'conflict' } });

    const member = await seenBy(setup.cleo, batch!);
    expectNotIn(member.text, [...SAID, sha256('disk'), sha256('written'), 'TWO', 'two', 'LINES_MISMATCH']);
    expect(member.batch).toMatchObject({ status: 'failed', error: null });
    expect(member.changes[0]).toMatchObject({
      ...{ originalSha256: null, fileOutcome: { status: 'conflict' } },
      change: { operation: null, outcome: { status: 'failed' } },
    });
  });

  it('that did not match shows the current line to its user only [MEMBER-5]', async () => {
    await write(`/${DOC}`, TEXT.replace('two', 'STANDING'));
    const changes = [replaceTwo({ expectedOriginalLines: ['two'] })];
    const { body } = await setup.fixture.post([
      patchCall([{ sha: sha256(TEXT.replace('two', 'STANDING')), changes }]),
    ]);
    const { callId } = body.result.toolResults[0]!;
    const [event] = await readTrail(setup.ben, setup.fixture.workspaceId, `&callId=${callId}`);
    const path = `${base()}/patches/${event!.fields.batchId as string}`;
    expectIn(JSON.stringify((await setup.ben.get(path)).body), ['STANDING']);
    const owner = await setup.ada.get<BatchView>(path);
    expectNotIn(JSON.stringify(owner.body), ['STANDING']);
    expect(owner.body.error).toMatchObject({ code: 'LINES_MISMATCH' });
    expect((await setup.cleo.get<BatchView>(path)).body.error).toBeNull();
    const [ofUser, ofOwner] = [await setup.ben.get(`${path}/diff`), await setup.ada.get(`${path}/diff`)];
    expect([ofUser.status, ofOwner.status]).toEqual([409, 409]);
    expectIn(JSON.stringify(ofUser.body), ['STANDING']);
    expectNotIn(JSON.stringify(ofOwner.body), ['STANDING']);
  });

  it('that was denied shows the note to an owner, and to a member neither the note nor the code [MEMBER-5]', async () => {
    await write(`/${DOC}`, TEXT);
    await setup.fixture.post([patchCall()]);
    const { batch } = await setup.client.delivery();
    const approval = { ...APPROVAL, decision: 'deny' as const, note: 'NOT NOW' };
    await setup.client.report(setup.client.calls[0]!, { result: null, approval });
    for (const user of [setup.ben, setup.ada])
      expect((await seenBy(user, batch!)).batch.error).toEqual({ code: 'DENIED', message: 'NOT NOW' });
    const member = await seenBy(setup.cleo, batch!);
    expectNotIn(member.text, ['NOT NOW', 'TWO', 'DENIED']);
    expect(member.batch.status).toBe('denied');
  });

  it('is shown by the current role of the viewer [MEMBER-5]', async () => {
    const batch = await partlyApplied();
    await setup.setRole(setup.ada, setup.cleo, 'owner');
    expectIn((await seenBy(setup.cleo, batch)).text, PROPOSED);
    await setup.setRole(setup.ada, setup.cleo, 'member');
    expectNotIn((await seenBy(setup.cleo, batch)).text, PROPOSED);
    await setup.setRole(setup.ada, setup.ben, 'owner');
    await setup.setRole(setup.ada, setup.ada, 'member');
    expectNotIn((await seenBy(setup.ada, batch)).text, PROPOSED);
    expectIn((await seenBy(setup.ben, batch)).text, [...PROPOSED, ...SAID]);
    expect((await (await server().register()).get(`${base()}/patches/${batch.batchId}`)).status).toBe(403);
  });

  it('shows in a revert by another member the applied changes without its label [MEMBER-5]', async () => {
    const batch = await partlyApplied();
    const theirs = await setup.cleo.post<Session>(`${base()}/sessions`, {});
    const { url } = server();
    const { token } = setup.cleo;
    const editor = await FakeClient.ready({
      url,
      token,
      workspaceId: setup.fixture.workspaceId,
      tools: ['workspace_write_patch'],
    });
    const { sessionId } = theirs.body;
    const path = `${base()}/patches/${batch.batchId}/revert`;
    expect((await setup.cleo.post<TurnAnswer>(path, { sessionId, waitMs: 0 })).status).toBe(202);
    const sent = await editor.delivery();
    expectNotIn(JSON.stringify(sent), PROPOSED);
    expect(sent.batch!.files.map(({ docPath }) => docPath)).toEqual([DOC]);
    editor.close();
  });
});
