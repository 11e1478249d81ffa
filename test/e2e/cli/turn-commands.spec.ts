import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '@patchbay/protocol/hash';
import type { InvokeResult, TurnResult } from '@patchbay/protocol';
import { CommandFixture } from '../../support/command-fixture.js';
import { suiteFixture, testFixture } from '../../support/fixtures.js';
import { createCall } from '../../support/relay-fixture.js';
import { startTestServer } from '../../support/server.js';

type Answer = InvokeResult<TurnResult>;

describe('patchbay commands for turns:', () => {
  const server = suiteFixture(() => startTestServer());
  const setup = testFixture(() => CommandFixture.on(server));

  const file = async (turn: object): Promise<string> => {
    const path = join(setup.directory, 'turn.json');
    await writeFile(path, JSON.stringify(turn));
    return path;
  };

  it('waits as long as the file says, unless --wait is given, and then prints how to continue', async () => {
    const path = await file({ turnId: 't1', waitMs: 0, toolCalls: [createCall('c1')] });
    const posted = await setup.run('turn', path);
    expect(posted.code).toBe(6);
    expect(posted.err).toBe(
      'Turn t1 is still open. "patchbay turn --follow t1" waits for it, "patchbay cancel t1" ends it.\n',
    );
    const { sessionId } = (JSON.parse(posted.out) as Answer).result;
    const waiting = setup.run('turn', path, '--session', sessionId, '--wait', '20000');
    expect((await setup.run('cancel', 't1')).code).toBe(0);
    expect((await waiting).code).toBe(5);
  });

  it('lets the server reject an invalid waitMs', async () => {
    const { code, err } = await setup.run('turn', await file({ waitMs: -1, toolCalls: [createCall('c1')] }));
    expect([code, err]).toEqual([2, 'patchbay: waitMs must not be less than 0.\n']);
  });

  it('follows an existing turn to its end and finds its session', async () => {
    await setup.fixture.post([createCall('c1', 'proj/a.txt')], { turnId: 't1' });
    const followed = setup.run('turn', '--follow', 't1');
    await setup.connect(await setup.folder('proj'));
    const { code, out } = await followed;
    expect(code).toBe(0);
    expect((JSON.parse(out) as Answer).result).toMatchObject({ kind: 'final', turnId: 't1' });
  });

  it('cancels one call of a turn or all remaining ones, and reports the state of each', async () => {
    await setup.fixture.post(
      [createCall('c1'), createCall('c2'), { toolCallId: 'c3', name: 'ls', arguments: {} }],
      {
        turnId: 't1',
        waitMs: 1000,
      },
    );
    const one = await setup.run('cancel', 't1', 'c1');
    expect(one.out).toMatch(
      /^Turn t1 continues\.\n {2}c1 workspace_create_file: cancelled\n {2}c3 ls: succeeded\n {2}c2 workspace_create_file c2\.txt waits for a client/,
    );
    const all = await setup.run('cancel', 't1', '--json');
    expect([all.code, JSON.parse(all.out)]).toMatchObject([0, { turnId: 't1', status: 'cancelled' }]);
  });

  it('rejects an unknown turn, and asks for the session where several have one of the name', async () => {
    const unknown = await setup.run('cancel', 'nope');
    expect([unknown.code, unknown.err]).toEqual([
      1,
      'patchbay: There is no turn nope in this workspace. "patchbay status" lists open turns.\n',
    ]);
    await setup.fixture.post([createCall('c1')], { turnId: 't1' });
    const first = setup.fixture.session.sessionId;
    await setup.fixture.newSession();
    await setup.fixture.post([createCall('c1')], { turnId: 't1' });
    const twice = await setup.run('cancel', 't1');
    expect([twice.code, twice.err]).toEqual([
      2,
      expect.stringContaining(`pass --session <id>, one of ${first}, `),
    ]);
    expect((await setup.run('cancel', 't1', '--session', first)).code).toBe(0);
  });

  it('shows and changes the tools that need approval, beside the rules of this machine', async () => {
    const tools = 'Server tools in this workspace that need approval:';
    const rules = 'Rules of this machine that allow calls without asking:';
    expect((await setup.run('approvals')).out).toBe(`${rules}\n  none\n${tools}\n  none\n`);
    expect((await setup.run('approvals', '--ask', 'rm', 'mv')).out).toContain(`${tools}\n  rm, mv\n`);
    const changed = await setup.run('approvals', '--ask', 'write', '--not-ask', 'rm', 'mkdir');
    expect(changed.out).toContain(`${tools}\n  mv, write\n`);
    expect((await setup.run('approvals', '--json')).out).toBe('{"rules":[],"approvals":["mv","write"]}\n');
    expect((await setup.run('approvals', '--not-ask', 'write', 'mv', '--json')).out).toBe(
      '{"rules":[],"approvals":[]}\n',
    );
    for (const wrong of [['--ask', 'ls'], ['--ask', 'rm', '--not-ask', 'rm'], ['--revoke', 'x'], ['rm']])
      expect((await setup.run('approvals', ...wrong)).code).toBe(2);
  });

  it('lists the rules of this machine, and revokes one without a server', async () => {
    const rule = { sessionId: 's', tools: ['workspace_create_file'], globs: ['proj/\\[slug\\]/**'] };
    const place = { url: 'http://elsewhere', workspaceId: 'w', clientId: 'c' };
    await mkdir(join(setup.home, 'rules'), { recursive: true });
    const kept = { ...rule, ...place, by: 'ada', at: '2026-01-01T00:00:00.000Z' };
    await writeFile(join(setup.home, 'rules', '1.json'), JSON.stringify(kept));
    const line =
      /1 {2}every call of workspace_create_file, all of whose files match proj\/\\\[slug\\\]\/\*\*, for the rest of session s only; http:\/\/elsewhere, workspace w; taken by ada, 20/;
    expect((await setup.run('approvals')).out).toMatch(line);
    const elsewhere = ['approvals', '--home', setup.home, '--url', 'http://127.0.0.1:1'];
    expect((await setup.bare([...elsewhere, '--revoke', '1'])).out).toMatch(/^Revoked: 1 {2}every call of/);
    const again = await setup.bare([...elsewhere, '--revoke', '1']);
    expect([again.code, again.err]).toEqual([2, expect.stringContaining('There is no rule 1')]);
    expect((await setup.run('approvals', '--json')).out).toBe('{"rules":[],"approvals":[]}\n');
  });

  describe('reverts a batch', () => {
    let folder: string;
    const patch = async (...names: string[]): Promise<string> => {
      const files = names.map((name) => ({
        docPath: `proj/${name}`,
        originalSha256: sha256(Buffer.from('one\n')),
        changes: [{ operation: 'insert', afterLine: 1, newLines: ['two'] }],
      }));
      const call = { toolCallId: 'p', name: 'workspace_write_patch', arguments: { files } };
      const { result } = (await setup.fixture.post([call], { waitMs: 20_000 })).body;
      return (result.toolResults[0]!.result as { batchId: string }).batchId;
    };
    beforeEach(async () => {
      folder = await setup.folder('proj', { 'a.txt': 'one\n', 'b.txt': 'one\n' });
      await setup.run('push', folder);
      await setup.connect(folder);
    });

    it('on the disk of the client that has the folder, and says so', async () => {
      const batch = await patch('a.txt');
      const { code, out } = await setup.run('revert', batch);
      expect([code, out]).toEqual([0, '✓ proj/a.txt undone\n']);
      expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('one\n');
      const again = await setup.run('revert', batch);
      expect([again.code, again.err]).toEqual([1, expect.stringContaining('has changed since')]);
    });

    it('except for a changed file, only when requested, and names the file once', async () => {
      const batch = await patch('a.txt', 'b.txt');
      const { workspaceId, user } = setup.fixture;
      const moved = { tool: 'write', args: { path: '/proj/b.txt', content: { text: 'mine\n' } } };
      await user.post(`/workspaces/${workspaceId}/tools`, moved);
      const refused = await setup.run('revert', batch);
      expect(refused.code).toBe(1);
      expect(refused.err.match(/proj\/b\.txt/g)).toHaveLength(1);
      expect(refused.err).toContain('Nothing was undone; --allow-partial undoes the other files');
      const { code, out } = await setup.run('revert', batch, '--allow-partial');
      expect([code, out]).toEqual([0, expect.stringContaining('✓ proj/a.txt undone\n')]);
      expect(out).toContain('! proj/b.txt is not undone: it has changed since');
      expect(await readFile(join(folder, 'b.txt'), 'utf8')).toBe('one\ntwo\n');
    });

    it('and rejects an unknown batch', async () => {
      expect((await setup.run('revert', 'nope')).code).toBe(2);
      expect((await setup.run('revert', '01a204f9-26f2-7720-9f7b-d60383c1e403')).code).toBe(1);
    });
  });
});
