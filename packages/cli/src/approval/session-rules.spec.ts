import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClientRules, MachineRules } from './session-rules.js';
import { request, Typist } from './typist.sample.js';

describe('a rule that a person gave for a session', () => {
  it('"always this tool" applies to that tool in that session only', async () => {
    const typist = new Typist(['a', 'y', 'y', 'y']);
    expect(await typist.decide()).toMatchObject({ decision: 'allow_always' });
    expect(await typist.decide(request('other.txt'))).toMatchObject({ decision: 'allow_always' });
    expect(await typist.decide(request('a', 'other_tool'))).toMatchObject({ decision: 'allow' });
    expect(await typist.decide(request('a', 'workspace_create_file', 's2'))).toMatchObject({
      decision: 'allow',
    });
  });

  it('stores a glob, suggesting the folder of the file', async () => {
    const typist = new Typist(['g', '', 'y']);
    expect(await typist.decide()).toMatchObject({
      decision: 'allow_always',
      note: 'src/** in this session',
    });
    expect(await typist.decide(request('src/deep/b.txt'))).toMatchObject({ decision: 'allow_always' });
    expect(await typist.decide(request('test/b.txt'))).toMatchObject({ decision: 'allow' });
  });

  it('refuses a glob that does not cover its own call', async () => {
    const typist = new Typist(['g', 'docs/**', 'y']);
    expect(await typist.decide()).toMatchObject({ decision: 'allow' });
    expect(typist.screen).toContain('does not match');
  });

  it('shows what a typed glob allows before it is stored', async () => {
    const typist = new Typist(['g', '**', 'n', 'y']);
    expect(await typist.decide()).toMatchObject({ decision: 'allow' });
    expect(typist.screen).toContain('all of whose files match **');
    const accepting = new Typist(['g', '**', 'y']);
    expect(await accepting.decide()).toMatchObject({ decision: 'allow_always', note: '** in this session' });
  });

  it('shows what "always" allows before it is stored', async () => {
    const typist = new Typist(['a', 'n', 'a', '?', 'b', 'y']);
    expect(await typist.decide()).toMatchObject({ decision: 'allow_always' });
    expect(typist.screen).toContain(
      'every call of workspace_create_file, for any files, for the rest of session s only.\n',
    );
    expect(typist.screen).toContain('Store this rule? Key + Enter: [y]es  [n]o  [?] > ');
    expect(typist.screen.match(/Store this rule\?/g)).toHaveLength(4);
  });

  it('allows what its glob said: files below that folder, in that session', async () => {
    const typist = new Typist(['g', '', 'y', 'y', 'y']);
    await typist.decide();
    expect(typist.screen).toContain(
      'every call of workspace_create_file or workspace_write_patch, all of whose files match src/**,',
    );
    expect(await typist.decide(request('src/b.txt', 'workspace_write_patch'))).toMatchObject({
      decision: 'allow_always',
    });
    for (const other of [
      request('src', 'workspace_create_file'),
      request('src/b.txt', 'rm'),
      request('src/b.txt', 'workspace_create_file', 's2'),
    ]) {
      expect(await typist.decide(other)).toMatchObject({ decision: 'allow' });
    }
  });

  it('reports each call that an earlier answer allows', async () => {
    const typist = new Typist(['a', 'y']);
    const allowed: string[] = [];
    Object.assign(typist.options, { onAllowed: (_asked: unknown, rule: string) => allowed.push(rule) });
    await typist.decide();
    await typist.decide(request('other.txt'));
    expect(allowed).toEqual(['workspace_create_file in this session']);
  });

  describe('on a machine', () => {
    let home: string;
    beforeEach(async () => (home = await mkdtemp(join(tmpdir(), 'patchbay-rules-'))));
    afterEach(() => rm(home, { recursive: true }));
    const place = { url: 'http://a', workspaceId: 'w', clientId: 'c' };
    const rule = { sessionId: 's', tools: ['workspace_create_file'], globs: ['src/**'] };

    it('applies to that session of that server, workspace and client, also after a restart', async () => {
      await new ClientRules(home, place).add(rule, 'ada');
      expect(await new ClientRules(home, place).allowing(request())).toMatchObject(rule);
      for (const other of [{ url: 'http://b' }, { workspaceId: 'x' }, { clientId: 'd' }]) {
        expect(await new ClientRules(home, { ...place, ...other }).allowing(request())).toBeNull();
      }
      const inOther = request('src/a.txt', 'workspace_create_file', 's2');
      expect(await new ClientRules(home, place).allowing(inOther)).toBeNull();
    });

    it('ends in every process when it is revoked, by a number that is never reused', async () => {
      const rules = new ClientRules(home, place);
      const machine = new MachineRules(home);
      await Promise.all([1, 2, 3].map(() => rules.add(rule, 'ada')));
      expect((await machine.all()).map(({ n }) => n)).toEqual([1, 2, 3]);
      await machine.revoke(1);
      expect((await machine.all()).map(({ n }) => n)).toEqual([2, 3]);
      expect(await machine.revoke(1)).toBeNull();
      await machine.revoke(2);
      expect(await machine.revoke(3)).toMatchObject({ ...rule, ...place, by: 'ada' });
      expect(await rules.allowing(request())).toBeNull();
      await rules.add(rule, 'ada');
      expect((await machine.all()).map(({ n }) => n)).toEqual([4]);
    });

    it('allows nothing if it cannot be read', async () => {
      await new ClientRules(home, place).add(rule, 'ada');
      for (const damaged of ['{', '{}', JSON.stringify({ ...place, ...rule, globs: 'src/**' })]) {
        await writeFile(join(home, 'rules', '1.json'), damaged);
        expect(await new ClientRules(home, place).allowing(request())).toBeNull();
      }
    });

    it('lasts for this run if there is no session, as for an offered change of the Cloud', async () => {
      const typist = new Typist(['a', 'y']);
      Object.assign(typist.options, { rules: new ClientRules(home, place) });
      expect(await typist.decide(request('a', 'pull', ''))).toMatchObject({
        note: 'pull while this connect runs',
      });
      expect(await typist.decide(request('b', 'pull', ''))).toMatchObject({ decision: 'allow_always' });
      expect(await new MachineRules(home).all()).toEqual([]);
    });
  });
});
