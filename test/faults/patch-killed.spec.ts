import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AuditEvent, WritePatchResult } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { type Editor, type FaultFixture, onOneServer, onServersInTurn } from '../support/fault-fixture.js';
import { waitFor } from '../support/wait-for.js';

import.meta.jest.setTimeout(90_000);

const onServer = onOneServer();
const inFixture = onServersInTurn();

const NAMES = ['a.txt', 'b.txt', 'c.txt'];

async function postPatch(fixture: FaultFixture, editor: Editor): Promise<void> {
  for (const name of NAMES) await writeFile(join(editor.root, name), `${name}\n`);
  const files = NAMES.map((name) => ({
    docPath: `project/${name}`,
    originalSha256: sha256(`${name}\n`),
    changes: [{ operation: 'insert', afterLine: 1, newLines: ['new'] }],
  }));
  const call = { toolCallId: 'p', name: 'workspace_write_patch', arguments: { files } };
  const path = `/workspaces/${fixture.workspaceId}/sessions/${fixture.session.sessionId}/turns`;
  const { status } = await fixture.user.post(path, { turnId: 't1', toolCalls: [call], waitMs: 0 });
  expect(status).toBe(202);
}

/** The batch succeeded, is written and in the Cloud as a whole, and nothing lies around. */
async function expectWritten(fixture: FaultFixture, editor: Editor): Promise<void> {
  const { status, body } = await fixture.get('t1', 20_000);
  expect({ status, results: body.result.toolResults }).toMatchObject({
    status: 200,
    results: [{ toolCallId: 'p', status: 'succeeded' }],
  });
  const { files } = body.result.toolResults[0]!.result as unknown as WritePatchResult;
  for (const file of files) {
    expect(file).toMatchObject({ status: 'applied', message: null, versionId: expect.any(String) as string });
  }
  await expectFiles(fixture, editor);
  const steps = await fixture.steps('t1');
  expect(steps.filter((step) => step === 'ResultReceived')).toHaveLength(1);
}

/** Every file is written, on the disk and in the Cloud, and nothing lies around. */
async function expectFiles(fixture: FaultFixture, editor: Editor): Promise<void> {
  expect((await readdir(editor.root)).sort()).toEqual(NAMES);
  const cloud = `/workspaces/${fixture.workspaceId}/tools`;
  for (const name of NAMES) {
    expect(await readFile(join(editor.root, name), 'utf8')).toBe(`${name}\nnew\n`);
    const read = { tool: 'read', args: { path: `/project/${name}` } };
    expect((await fixture.user.post(cloud, read)).body).toMatchObject({
      result: { content: { text: `${name}\nnew\n` } },
    });
  }
}

/** A process that is killed once it has noted what became of the batch, before it is connected. */
async function dieSettling(fixture: FaultFixture, editor: Editor): Promise<void> {
  const connecting = fixture.connect(editor, { pauseAt: 'after:settled' });
  connecting.catch(() => undefined);
  await waitFor(() => editor.processes.length === 2, 'the next process');
  const next = editor.processes[1]!;
  await next.says('paused');
  await next.kill();
  await expect(connecting).rejects.toThrow('ended without saying');
}

async function lateResults(fixture: FaultFixture): Promise<AuditEvent[]> {
  return (await fixture.trail('t1')).filter(({ name }) => name.endsWith('.LateResult'));
}

describe('A client that is killed while it runs a patch batch', () => {
  it.concurrent.each([
    ['once it has written down the call', 'after:received'],
    ['once it has begun', 'after:running'],
    ['once it has said what it is about to write', 'after:intent'],
    ['once every file is staged', 'before:kept'],
    ['before the first file is put in its place', 'before:place'],
    ['once the first file is in its place and the others are not', 'after:place'],
    ['once it has uploaded every file', 'before:finished'],
    ['once it has written down the result', 'after:finished'],
  ])('%s has every file written once, and in the Cloud', async (_moment, pauseAt) => {
    await onServer(async (fixture) => {
      const editor = await fixture.editor();
      const client = await fixture.connect(editor, { pauseAt });
      await postPatch(fixture, editor);
      await client.says('paused');
      await client.kill();
      const next = await fixture.connect(editor);
      await expectWritten(fixture, editor);
      expect(client.placed + next.placed).toBe(NAMES.length);
    })();
  });

  it.concurrent.each([
    ['between two files', 'after:place', 1],
    ['before it has written down the result', 'before:finished', NAMES.length],
    ['once more, when it has written down what it found', 'after:place', 1],
  ])(
    'reports what it wrote although the call was cancelled meanwhile, and uploads it: %s',
    async (moment, pauseAt, placed) => {
      await onServer(async (fixture) => {
        const editor = await fixture.editor();
        const client = await fixture.connect(editor, { pauseAt });
        await postPatch(fixture, editor);
        await client.says('paused');
        await client.kill();
        expect(client.placed).toBe(placed);
        expect((await fixture.cancel('t1')).status).toBe(200);
        if (moment.startsWith('once more')) await dieSettling(fixture, editor);
        await fixture.connect(editor);
        await waitFor(async () => (await fixture.steps('t1')).includes('LateResult'), 'the late result');
        expect(await lateResults(fixture)).toMatchObject([
          { name: 'Tool.WritePatch.LateResult', fields: { success: true, errorCode: null } },
        ]);
        expect((await fixture.get('t1')).body.result.toolResults).toMatchObject([{ status: 'cancelled' }]);
        await expectFiles(fixture, editor);
      })();
    },
  );

  it.concurrent(
    'between two files rolls the batch back when the user has changed the next file',
    onServer(async (fixture) => {
      const editor = await fixture.editor();
      const client = await fixture.connect(editor, { pauseAt: 'after:place' });
      await postPatch(fixture, editor);
      await client.says('paused');
      await client.kill();
      await writeFile(join(editor.root, 'c.txt'), 'mine\n');
      await fixture.connect(editor);
      const { body } = await fixture.get('t1', 20_000);
      expect(body.result.toolResults).toMatchObject([{ status: 'failed', error: { code: 'STALE' } }]);
      const texts = NAMES.map((name) => readFile(join(editor.root, name), 'utf8'));
      expect(await Promise.all(texts)).toEqual(['a.txt\n', 'b.txt\n', 'mine\n']);
      expect((await readdir(editor.root)).sort()).toEqual(NAMES);
    }),
  );

  it.concurrent(
    'together with the server, between two files, finishes the batch when both are back',
    inFixture(async (fixture) => {
      const editor = await fixture.editor();
      const client = await fixture.connect(editor, { pauseAt: 'after:place' });
      await postPatch(fixture, editor);
      await client.says('paused');
      await Promise.all([client.kill(), fixture.restartServer()]);
      await fixture.connect(editor);
      await expectWritten(fixture, editor);
    }),
  );
});
