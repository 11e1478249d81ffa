import { ConnectAtTerminal, LINES, replaceLine } from '../../support/connect-at-terminal.js';
import { describeAtTerminal } from '../../support/terminal.js';

describeAtTerminal('A person who decides at a terminal', () => {
  const at = ConnectAtTerminal.forEachTest();

  it('sees the folder, the call and its outcome', async () => {
    const terminal = await at.connect();
    await terminal.shows(`, as ${at.fixture.user.email}.\n`);
    expect(terminal.said).toMatch(/Folder "proj", .*proj:\n {2}the model finds none of its files yet/);
    const turn = await at.create('src/a.ts', 'one\ntwo\nthree\n');
    await terminal.shows('Key + Enter: [y]es  [n]o  [e]dit  [v]iew  [a]lways  [g]lob  [?] > ');
    expect(terminal.screen.shown.join('\n')).toContain(
      ['new file proj/src/a.ts (3 lines, 14 bytes)', '+one', '+two', '+three'].join('\n'),
    );
    terminal.enter('y');
    await terminal.shows('✓ wrote proj/src/a.ts (+3)\n');
    expect((await at.outcome(turn)).status).toBe('succeeded');
    expect(terminal.raw).not.toContain('"event"');
  });

  it('sees the labels of a batch, of its files and of each change', async () => {
    await at.write('a.txt', LINES);
    const terminal = await at.connect();
    await at.patch(
      [{ path: 'a.txt', changes: [replaceLine(2, 'TWO', 'too')], label: 'Louder\u001b[31m' }],
      'All of it',
    );
    await terminal.shows('[?] > ');
    expect(terminal.said).toContain('workspace_write_patch wants to\nAll of it\n');
    expect(terminal.said).toContain('patch proj/a.txt (1 change: +2 −1 lines): Louder\\x1b[31m\n');
    expect(terminal.said).toContain('  replace line 2: Say two otherwise\n');
    terminal.enter('y');
    await terminal.shows('✓ wrote proj/a.txt (+2 −1)');
    expect(await at.read('a.txt')).toBe(LINES.replace('two', 'TWO\ntoo'));
  });

  it('is told how a patch is undone, and that undoes it', async () => {
    await at.write('a.txt', LINES);
    const terminal = await at.connect();
    const turn = await at.patch([{ path: 'a.txt', changes: [replaceLine(2, 'TWO')] }]);
    await terminal.shows('[?] > ');
    terminal.enter('y');
    await terminal.shows(/✓ wrote proj\/a\.txt \(\+1 −1\)\n {2}"patchbay revert \S+" undoes it\.\n/);
    const [, batchId] = /patchbay revert ([^"]+)"/.exec(terminal.said)!;
    expect((await at.outcome(turn)).result).toMatchObject({ batchId });
    const revert = at.fixture.user.post(`/workspaces/${at.fixture.workspaceId}/patches/${batchId}/revert`, {
      sessionId: at.fixture.session.sessionId,
      waitMs: 20_000,
    });
    await terminal.shows('[?] > ');
    terminal.enter('y');
    expect((await revert).status).toBe(200);
    expect(await at.read('a.txt')).toBe(LINES);
  });

  it('sees no hash for a changed file, and no way to undo what was not done', async () => {
    await at.write('a.txt', 'other\n');
    const terminal = await at.connect();
    const turn = await at.patch([{ path: 'a.txt', changes: [replaceLine(2, 'TWO')] }]);
    await terminal.shows(
      '✗ conflict: proj/a.txt: the file has changed since this was planned (STALE); the model is informed, and can read the file and plan again',
    );
    expect(terminal.raw).not.toMatch(/[0-9a-f]{64}/);
    expect(terminal.raw).not.toContain('patchbay revert');
    // The model needs them.
    expect(JSON.stringify((await at.outcome(turn)).result)).toMatch(/[0-9a-f]{64}/);
  });

  it('denies with a note, which they may take back', async () => {
    const terminal = await at.connect();
    const turn = await at.create('a.txt', 'x\n');
    await terminal.shows('[?] > ');
    terminal.enter('n');
    await terminal.shows('Ctrl-D: back): ');
    terminal.type('\u0004');
    await terminal.shows('[?] > ');
    terminal.enter('n');
    await terminal.shows('Ctrl-D: back): ');
    terminal.enter('wrong folder');
    await terminal.shows('✗ denied: workspace_create_file proj/a.txt; note to the model: wrong folder');
    expect((await at.outcome(turn)).error!.message).toBe('wrong folder');
  });

  it('sees a short diff of a call that a rule or a flag allows', async () => {
    const terminal = await at.connect(['--allow', 'docs/**']);
    await at.create('docs/a.md', 'hello\n');
    await terminal.shows('new file proj/docs/a.md (1 line, 6 bytes), allowed by --allow docs/**\n+hello\n');
    await terminal.shows('✓ wrote proj/docs/a.md (+1)');
    await at.create('a.txt', 'x\n');
    await terminal.shows('[?] > ');
    terminal.enter('a');
    await terminal.shows(/every call of workspace_create_file, for any files[^]*Store this rule\?.*> /);
    terminal.enter('y');
    await terminal.shows('✓ wrote proj/a.txt');
    await at.create('b.txt', 'y\n');
    await terminal.shows(
      'proj/b.txt (1 line, 2 bytes), allowed by workspace_create_file in this session\n+y\n',
    );
    await terminal.shows('✓ wrote proj/b.txt (+1)');
  });

  it('is told of a conflict and its outcome', async () => {
    await at.write('a.txt', 'other\n');
    const terminal = await at.connect();
    await at.patch([{ path: 'a.txt', changes: [replaceLine(2, 'TWO')] }]);
    await terminal.shows(
      /✗ conflict: proj\/a\.txt: .*\(STALE\); the model is informed, and can read the file/,
    );
  });

  it('is asked about a change by the server and told its outcome', async () => {
    const { user, workspaceId } = at.fixture;
    await user.request('PUT', `/workspaces/${workspaceId}`, { approvals: ['write'] });
    await at.write('a.txt', LINES);
    const terminal = await at.connect(['--push']);
    expect(terminal.said).toContain(':\n  the model sees its 1 file, as it was sent last.\n');
    const turn = await at.call('write', { path: '/notes/cloud.txt', content: { text: 'x\n' } });
    await terminal.shows(/write wants to\nwrite the Cloud file notes\/cloud\.txt[^]*\[\?\] > /);
    terminal.enter('y');
    await terminal.shows('… running on the server: write notes/cloud.txt');
    expect((await at.outcome(turn)).status).toBe('succeeded');
  });

  it('is told their other open calls and what those wait for', async () => {
    await at.fixture.client({ clientId: 'laptop' });
    await at.fixture.newSession('laptop');
    await at.create('a.txt', 'x\n');
    const terminal = await at.connect();
    await terminal.shows(
      /Open elsewhere:\n {2}c1 workspace_create_file a\.txt waits for its decision at "[^"]+", until\s+\S+ \(.*\n/,
    );
  });

  it('gets JSON lines at a terminal only when they ask for them', async () => {
    const terminal = await at.connect(['--json', '--yes']);
    await at.create('a.txt', 'x\n');
    await terminal.shows(/"event":"Tool\.CreateFile\.Executed".*"success":true/);
    expect(terminal.said).not.toContain('✓');
  });

  it('sees what each key does, and is asked again', async () => {
    const terminal = await at.connect();
    await at.create('a.txt', 'x\n');
    await terminal.shows('[?] > ');
    terminal.enter('?');
    await terminal.shows(
      / {2}n {2}no: deny it[^]*Ctrl-D {2}goes back[^]*workspace_create_file proj\/a\.txt \(\+1\)\?\n/,
    );
    await terminal.shows('[?] > ');
    terminal.enter('what');
    await terminal.shows(/Please answer with one of the letters[^]*proj\/a\.txt \(\+1\)\?\n.*\[\?\] > /);
  });
});
