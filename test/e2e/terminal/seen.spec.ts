import { ConnectAtTerminal } from '../../support/connect-at-terminal.js';
import { runCommand } from '../../support/run-command.js';
import { describeAtTerminal, KEYS } from '../../support/terminal.js';

describeAtTerminal('What a person approves', () => {
  const at = ConnectAtTerminal.forEachTest();

  const long = (word: string) => `${'equal '.repeat(1_500)}${word} ${'alike '.repeat(1_500)}end`;

  it('includes a change deep in a long line: in the question, the selection and the pager', async () => {
    const text = `${long('harmless')}\n`;
    await at.write('a.txt', text);
    const terminal = await at.connect([], { env: { PAGER: 'cat' } });
    const [line] = text.split('\n');
    const change = { operation: 'replace', startLine: 1, endLine: 1 };
    const changes = [{ ...change, expectedOriginalLines: [line], newLines: [long('harmful')] }];
    await at.patch([{ path: 'a.txt', text, changes }]);
    await terminal.shows('[?] > ');
    const asked = () => terminal.screen.shown.join('');
    expect(asked()).toMatch(/-[equal ]+harmless [alike ]+\+[equal ]+harmful [alike ]+/);
    terminal.enter('s');
    await terminal.shows('[?] > ');
    expect(terminal.said).toMatch(/-[equal ]+harmless [alike ]+\n\+[equal ]+harmful [alike ]+\n/);
    terminal.enter('v');
    await terminal.shows(`\n+${long('harmful')}\n`);
    await terminal.shows('[?] > ');
    terminal.enter('b');
    await terminal.shows('[?] > ');
    terminal.enter('v');
    await terminal.shows(`\n+${long('harmful')}\n`);
    await terminal.shows('[?] > ');
    terminal.enter('y');
    await terminal.shows('✓ wrote proj/a.txt (+1 −1)');
  });

  it('includes a change deep in a line of a replaced file; for a new file the omitted size is shown', async () => {
    await at.write('a.txt', `${long('harmless')}\n`);
    const terminal = await at.connect();
    await at.create('a.txt', `${long('harmful')}\n`, { overwrite: true });
    await terminal.shows(/harmful[^]*\[\?\] > /);
    terminal.enter('y');
    await terminal.shows('✓ wrote');
    terminal.mark();
    await at.create('new.txt', `first\n${long('word')}\nlast\n`);
    await terminal.shows('… the rest of this line, and 1 more line; v shows all');
  });

  it('includes the whole path, however long, while the text of the model is cut', async () => {
    const terminal = await at.connect();
    await at.create(`${'folder/'.repeat(60)}secret.txt`, 'x\n');
    await terminal.shows('[?] > ');
    expect(terminal.screen.shown.join('')).toContain(
      `new file proj/${'folder/'.repeat(60)}secret.txt (1 line`,
    );
    expect(terminal.said).toMatch(/workspace_create_file …[folder/]+secret\.txt \(\+1\)\?\n/);
  });

  it('ignores keys typed before the question', async () => {
    const terminal = await at.connect();
    terminal.type(`y${KEYS.enter}y`);
    await terminal.shows(/y\ny$/);
    const turn = await at.create('a.txt', 'x\n');
    await terminal.shows('[?] > ');
    terminal.enter('');
    await terminal.shows('Please answer');
    await terminal.shows('[?] > ');
    terminal.enter('n');
    await terminal.shows('back): ');
    terminal.enter('');
    expect((await at.outcome(turn)).status).toBe('denied');
  });

  it('ignores keys typed for a withdrawn question', async () => {
    const terminal = await at.connect();
    const { fixture } = at;
    const call = (toolCallId: string) => ({
      ...{ toolCallId, name: 'workspace_create_file' },
      arguments: { path: `${toolCallId}.txt`, content: 'x\n' },
    });
    const { turnId } = (await fixture.post([call('one')])).body.result;
    await terminal.shows(/one\.txt[^]*\[\?\] > /);
    const other = (await fixture.post([call('two')])).body.result;
    await fixture.untilCall(other.turnId, 'two', 'awaiting_approval');
    terminal.type('y');
    const path = `/workspaces/${fixture.workspaceId}/sessions/${fixture.session.sessionId}/turns/${turnId}`;
    await fixture.user.post(`${path}/tool-calls/one/cancel`, {});
    await terminal.shows(/two\.txt \(/);
    terminal.type(KEYS.enter);
    await terminal.shows('[?] > ');
    terminal.enter('what');
    await terminal.shows(/Please answer[^]*two\.txt/);
  });

  it('ignores several pasted lines', async () => {
    const terminal = await at.connect();
    await at.create('a.txt', 'x\n');
    await terminal.shows('[?] > ');
    terminal.type(`y${KEYS.enter}and more${KEYS.enter}`);
    await terminal.shows(/Several lines were pasted[^]*\[\?\] > /);
  });

  it('needs a new question for another folder, and for the same one once its rule is revoked', async () => {
    const terminal = await at.connect();
    await at.create('app/[slug]/page.ts', 'x\n');
    await terminal.shows('[?] > ');
    terminal.enter('g');
    await terminal.shows('Glob [proj/app/\\[slug\\]/**] (Ctrl-D: back): ');
    expect(terminal.said.replaceAll('\n', ' ')).toContain(
      'every call of workspace_create_file or workspace_write_patch, all of whose files match proj/app/',
    );
    terminal.enter('');
    await terminal.shows('✓ wrote proj/app/[slug]/page.ts');
    await at.create('app/s/page.ts', 'x\n');
    await terminal.shows('app/s/page.ts (+1)?');
    await terminal.shows('[?] > ');
    terminal.enter('y');
    await terminal.shows('✓ wrote proj/app/s/page.ts');
    await terminal.close();

    const again = await at.connect();
    await at.create('app/[slug]/deep/a.ts', 'x\n');
    await again.shows(/allowed by proj\/app\/\\\[slug\\\]\/\*\* in this session[^]*✓ wrote/);
    const flags = ['--home', at.home, '--url', at.server.url, '--revoke', '1'];
    expect((await runCommand(['approvals', ...flags])).out).toContain('Revoked: 1  every call');
    again.mark();
    await at.create('app/[slug]/b.ts', 'x\n');
    await again.shows('[?] > ');
  });
});
