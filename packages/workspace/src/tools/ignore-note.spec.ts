import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallContext } from '@patchbay/client/relay';
import type { ApprovalRequest } from '../approval/approver.js';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import { CreateFileTool } from './create-file-tool.js';
import { createOf } from './create-file-tool.sample.js';
import { Person } from './tool-fixture.sample.js';
import { batchOf, callOf } from './write-patch-tool.sample.js';
import { WritePatchTool } from './write-patch-tool.js';

const OLD = 'out/\n*.log\n';

describe('the question about a changed .gitignore', () => {
  let folder: string;
  const person = new Person();
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'patchbay-note-')));
    execFileSync('git', ['init', '-q'], { cwd: folder, env: process.env });
    mkdirSync(join(folder, 'out'));
    writeFileSync(join(folder, '.gitignore'), OLD);
    for (let at = 10; at < 22; at += 1) writeFileSync(join(folder, `out/${at}`), '');
    for (const name of ['a.log', '.env']) writeFileSync(join(folder, name), '');
    person.answer = () => ({ decision: 'deny' });
    person.asked.length = 0;
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const context = {
    signal: new AbortController().signal,
    awaitApproval: async () => undefined,
  } as unknown as CallContext;
  const asked = async (run: (roots: WorkspaceRoots) => Promise<unknown>): Promise<ApprovalRequest> => {
    await run(await WorkspaceRoots.open([{ directory: folder, name: 'Proj' }]));
    return person.asked[0]!;
  };
  const create = (path: string, content: string): Promise<ApprovalRequest> => {
    const call = createOf('1', { path, content, overwrite: true });
    return asked((roots) => new CreateFileTool({ roots }, person).run(call, context));
  };

  it('names the number and the first of the files that would be sent', async () => {
    const { note } = await create('.gitignore', '*.log\n');
    const first = Array.from({ length: 10 }, (_, at) => `Proj/out/${at + 10}`).join(', ');
    expect(note).toBe(`12 files that are ignored now would be sent from then on: ${first} and 2 more.`);
  });

  it('names them for a patch, too', async () => {
    const changes = [{ operation: 'delete', startLine: 2, endLine: 2, expectedOriginalLines: ['*.log'] }];
    const batch = batchOf([{ docPath: 'proj/.gitignore', original: OLD, changes }]);
    const { note } = await asked((roots) =>
      new WritePatchTool({ roots }, person).run(callOf('1', batch), context),
    );
    expect(note).toBe('1 file that is ignored now would be sent from then on: Proj/a.log.');
  });

  it('has no note if no file would be sent, or for another file', async () => {
    expect((await create('.gitignore', `${OLD}more/\n`)).note).toBeUndefined();
    person.asked.length = 0;
    expect((await create('gitignore', '')).note).toBeUndefined();
  });
});
