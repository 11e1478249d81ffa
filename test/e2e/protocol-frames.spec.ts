import type { ToolCallDelivery } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FrameRecorder, masked } from '../support/frame-recorder.js';
import { RelayFixture } from '../support/relay-fixture.js';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../docs/protocol.md'), 'utf8');
const CREATED = 'one\ntwo\n';
const PATCHED = 'one\nTWO\n';
const ROOT = { name: 'notes', rootId: '4b0f2a52-6d0c-4c1e-9a53-0f7f3b1f5a10', docPath: 'notes' };

const create = {
  ...{ toolCallId: 'call-1', name: 'workspace_create_file' },
  arguments: { path: 'notes/List.md', content: CREATED },
};
const change = {
  ...{ operation: 'replace', startLine: 2, endLine: 2 },
  ...{ expectedOriginalLines: ['two'], newLines: ['TWO'] },
};
const patch = {
  ...{ toolCallId: 'call-2', name: 'workspace_write_patch' },
  arguments: {
    files: [{ docPath: 'notes/list.md', originalSha256: sha256(CREATED), changes: [change] }],
  },
};

describe('The transcript in docs/protocol.md', () => {
  let fixture: RelayFixture;
  let client: FrameRecorder;
  beforeAll(async () => {
    fixture = await RelayFixture.start();
    client = await FrameRecorder.open(fixture.server.url);
  });
  afterAll(async () => {
    client.close();
    await fixture.close();
  });

  /** Posts the call and takes it as far as `running`. */
  async function accepted(call: object): Promise<ToolCallDelivery> {
    await fixture.post([call]);
    const delivery = await client.acknowledged<ToolCallDelivery>('tool:call');
    const { turnId, callId, attempt } = delivery;
    for (const status of ['awaiting_approval', 'running'])
      await client.event('tool:status', { turnId, callId, attempt, status });
    return delivery;
  }

  async function upload(text: string, more: object): Promise<void> {
    const content = { _placeholder: true, num: 0 };
    const file = { docPath: 'notes/list.md', path: '/notes/List.md', content, sha256: sha256(text), ...more };
    expect(await client.event('files:put', file, Buffer.from(text))).toMatchObject({ ok: true });
  }

  async function report(delivery: ToolCallDelivery, result: object): Promise<void> {
    const { turnId, callId, attempt } = delivery;
    const approval = { decision: 'allow', by: 'ada', at: new Date().toISOString() };
    const outcome = { turnId, callId, attempt, executionMs: 3, result, approval };
    expect(await client.event('tool:result', outcome)).toEqual({ ok: true });
  }

  it('matches the frames of a connect, a create of one file and its patch', async () => {
    await client.next('pingInterval');
    const { token } = fixture.user;
    const identity = { clientId: 'editor-1', name: 'Editor', version: '1.0.0', protocol: 1 };
    const tools = ['workspace_create_file', 'workspace_write_patch'];
    const auth = { token, workspaceId: fixture.workspaceId, ...identity, tools, roots: [ROOT] };
    client.send(`40/relay,${JSON.stringify(auth)}`);
    await client.next('40/relay,');
    await client.event('client:resume', []);
    await client.acknowledged('session:opened');

    const created = await accepted(create);
    await upload(CREATED, { baseSha256: null, callId: created.callId });
    await report(created, {
      ...{ success: true, message: 'File created.', path: 'notes/List.md', docPath: 'notes/list.md' },
      ...{ sizeBytes: CREATED.length, hash: sha256(CREATED), created: true, overwritten: false },
      errorCode: null,
    });

    const patched = await accepted(patch);
    const { batchId, files } = patched.batch!;
    const { filePatchId, changes } = files[0]!;
    await upload(PATCHED, { baseSha256: sha256(CREATED), callId: patched.callId, filePatchId });
    await report(patched, {
      ...{ success: true, batchId },
      files: [
        {
          ...{ filePatchId, status: 'applied', newSha256: sha256(PATCHED) },
          changes: [{ changeId: changes[0]!.changeId, status: 'applied' }],
        },
      ],
    });

    const documented = /^```text\n(# The connection opens.*?)^```$/ms.exec(DOCUMENT)?.[1] ?? '';
    expect(documented.replaceAll(/^#.*\n|^\n/gm, '')).toBe(masked(`${client.lines.join('\n')}\n`));
  });
});
