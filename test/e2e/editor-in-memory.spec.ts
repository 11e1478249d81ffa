import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionContext } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { waitFor } from '../support/wait-for.js';

const EDITOR = join(import.meta.dirname, '../../examples/editor-in-memory/editor.mjs');
const TODAY = '# Today\n\n- nothing yet\n';

/** Lines that say something: neither empty nor a comment. */
function linesOf(path: string): number {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('//')).length;
}

it('The example editor-in-memory takes fewer than 40 lines', () => {
  expect(linesOf(EDITOR)).toBeLessThan(40);
});

describe('The example editor-in-memory', () => {
  let fixture: RelayFixture;
  let editor: ChildProcessWithoutNullStreams;
  let said: string;
  let home: string;
  beforeEach(async () => {
    fixture = await RelayFixture.start();
    home = await mkdtemp(join(tmpdir(), 'patchbay-editor-'));
    await start();
  });
  afterEach(async () => {
    await stop();
    await fixture.close();
    await rm(home, { recursive: true, force: true });
  });

  const start = async () => {
    said = '';
    editor = spawn(process.execPath, [EDITOR], {
      env: {
        ...process.env,
        PATCHBAY_HOME: home,
        PATCHBAY_URL: fixture.server.url,
        PATCHBAY_TOKEN: fixture.user.token,
        PATCHBAY_WORKSPACE: fixture.workspaceId,
      },
    });
    for (const stream of [editor.stdout, editor.stderr])
      stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await says('connected');
  };
  const stop = async () => {
    const exit = new Promise((resolve) => editor.once('exit', resolve));
    editor.kill();
    await exit;
  };
  const says = (text: string) => waitFor(() => said.includes(text), `"${text}" in ${said}`);
  const answer = async (line: string) => {
    await says('Do it?');
    said = '';
    editor.stdin.write(`${line}\n`);
  };
  const patch = (line: string, text = TODAY) => ({
    ...{ toolCallId: 'p', name: 'workspace_write_patch' },
    arguments: {
      files: [
        {
          ...{ docPath: 'notes/today.md', originalSha256: sha256(text) },
          changes: [
            {
              ...{ operation: 'replace', startLine: 3, endLine: 3 },
              ...{ expectedOriginalLines: ['- nothing yet'], newLines: [line] },
            },
          ],
        },
      ],
    },
  });
  const textOf = async (path: string) => {
    const { body } = await fixture.user.post(`/workspaces/${fixture.workspaceId}/tools`, {
      ...{ tool: 'read', args: { path } },
    });
    return (body as { result: { content: { text: string } } }).result.content.text;
  };

  it('patches what it holds, creates, and the Cloud has it', async () => {
    const patched = fixture.post([patch('- a patch')], { waitMs: 20_000 });
    await says('+- a patch');
    await answer('y');
    const { body } = await patched;
    expect(body.result.toolResults).toMatchObject([
      {
        status: 'succeeded',
        result: { files: [{ status: 'applied', versionId: expect.any(String) as string }] },
      },
    ]);
    expect(await textOf('/notes/today.md')).toBe('# Today\n\n- a patch\n');
    const created = fixture.post([createCall('c', 'Later.md', 'later\r\n')], { waitMs: 20_000 });
    await answer('y');
    expect((await created).body.result.toolResults).toMatchObject([
      { status: 'succeeded', result: { created: true, path: 'Later.md', docPath: 'notes/later.md' } },
    ]);
    expect(await textOf('/notes/Later.md')).toBe('later\n');
  });

  /** Waits until the fixture's session has the file among its Active Files. */
  async function untilOpenFileIsKnown(): Promise<void> {
    const path = `/workspaces/${fixture.workspaceId}/sessions/${fixture.session.sessionId}/context?format=json`;
    await waitFor(async () => {
      const { body } = await fixture.user.get<SessionContext>(path);
      return body.activeFiles.some(
        ({ docPath, sha256: hash }) => docPath === 'notes/today.md' && hash === sha256(TODAY),
      );
    }, 'the open file in the context');
  }

  it('says what stands in its text where a patch was planned on another, and asks nobody', async () => {
    await untilOpenFileIsKnown();
    const { body } = await fixture.post([patch('- x', 'another\n')], { waitMs: 20_000 });
    expect(body.result.toolResults).toMatchObject([
      {
        ...{ status: 'failed', error: { code: 'STALE' } },
        result: { files: [{ changes: [{ details: { currentSha256: sha256(TODAY) } }] }] },
      },
    ]);
    expect(said).not.toContain('Do it?');
  });

  it('changes nothing that it is not to, and says so', async () => {
    const denied = fixture.post([patch('- no')], { waitMs: 20_000 });
    await answer('n');
    expect((await denied).body.result.toolResults).toMatchObject([{ status: 'denied' }]);
    const again = fixture.post([createCall('again', 'notes/today.md')], { waitMs: 20_000 });
    expect((await again).body.result.toolResults).toMatchObject([
      { status: 'failed', error: { code: 'FileExists' } },
    ]);
  });

  it('tells each new session what is open, which the model reads there', async () => {
    await fixture.newSession('editor-in-memory');
    await untilOpenFileIsKnown();
    const read = { toolCallId: 'r', name: 'workspace_read_file', arguments: { docPath: 'notes/today.md' } };
    const { body } = await fixture.post([read], { waitMs: 20_000 });
    expect(body.result.toolResults).toMatchObject([
      { status: 'succeeded', result: { sha256: sha256(TODAY) } },
    ]);
  });

  it('is the same folder when it is started again', async () => {
    await stop();
    await start();
    const created = fixture.post([createCall('c', 'again.md', 'again\n')], { waitMs: 20_000 });
    await answer('y');
    expect((await created).body.result.toolResults).toMatchObject([
      { status: 'succeeded', result: { docPath: 'notes/again.md' } },
    ]);
  });
});
