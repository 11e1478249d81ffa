import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ConnectAtTerminal, LINES, replaceLine } from '../../support/connect-at-terminal.js';
import { describeAtTerminal } from '../../support/terminal.js';

describeAtTerminal('A person who edits what a call would write', () => {
  const at = ConnectAtTerminal.forEachTest();

  it('edits the resulting file of a patch, sees the diff again, and the server keeps it as effective [PATCH-6]', async () => {
    await at.write('a.txt', LINES);
    const editor = await at.program('editor', `sed -i 's/TWO/Deux/' "$1"; stat -c %a "$1" > mode`);
    const terminal = await at.connect([], { env: { EDITOR: editor } });
    const turn = await at.patch([
      { path: 'a.txt', changes: [replaceLine(2, 'TWO'), replaceLine(4, 'FOUR')] },
    ]);
    await terminal.shows('[e]dit');
    terminal.enter('e');
    await terminal.shows(
      /patch proj\/a\.txt \(2 changes: \+2 −2 lines\), edited by you[^]*\+Deux[^]*\+FOUR[^]*\[\?\] > /,
    );
    terminal.enter('y');
    await terminal.shows('✓ wrote proj/a.txt (+2 −2)');
    expect(await at.read('a.txt')).toBe('one\nDeux\nthree\nFOUR\nfive\n');
    expect(await at.read('mode')).toBe('600\n');
    const { result } = await at.outcome(turn);
    const { batchId, files } = result as { batchId: string; files: { changes: { status: string }[] }[] };
    expect(files[0]!.changes.map(({ status }) => status)).toEqual(['applied', 'applied']);
    const { body } = await at.fixture.user.get<{ effective: object; files: object[] }>(
      `/workspaces/${at.fixture.workspaceId}/patches/${batchId}`,
    );
    expect(JSON.stringify(body)).toContain('Deux');
  });

  it('leaves no files behind, and returns to the proposal when the editor fails', async () => {
    const editor = await at.program('editor', 'exit 3');
    const terminal = await at.connect([], { env: { VISUAL: editor, EDITOR: 'false' } });
    await at.create('a.txt', 'x\n');
    await terminal.shows('[e]dit');
    terminal.enter('edit');
    await terminal.shows(/ended with code 3; nothing was changed\.[^]*\[\?\] > /);
    terminal.enter('y');
    await terminal.shows('✓ wrote proj/a.txt (+1)');
    expect((await readdir(join(at.folder, '..'))).filter((name) => name.startsWith('patchbay-edit'))).toEqual(
      [],
    );
  });

  it('removes a change by restoring its lines, and is told when no change is left', async () => {
    await at.write('a.txt', LINES);
    const editor = await at.program('editor', `sed -i 's/TWO/two/; '"$UNDO" "$1"`);
    const terminal = await at.connect([], { env: { EDITOR: editor, UNDO: 's/FOUR/four/' } });
    const turn = await at.patch([
      { path: 'a.txt', changes: [replaceLine(2, 'TWO'), replaceLine(4, 'FOUR')] },
    ]);
    await terminal.shows('[e]dit');
    terminal.enter('e');
    await terminal.shows(/Nothing is left of the patch[^]*To refuse it, deny it\.[^]*\[\?\] > /);
    const keep = await at.program('editor', `sed 's/^four$/FOUR!/' "$1" > t; cat t > "$1"; rm t`);
    expect(keep).toBe(editor);
    terminal.enter('e');
    await terminal.shows(/1 change: \+1 −1 lines\), edited by you[^]*\[\?\] > /);
    terminal.enter('y');
    await terminal.shows('✓ wrote proj/a.txt (+1 −1), without 1 of 2 changes');
    expect(await at.read('a.txt')).toBe('one\ntwo\nthree\nFOUR!\nfive\n');
    expect((await at.outcome(turn)).status).toBe('succeeded');
  });

  it('chooses one of several files, and may go back', async () => {
    await at.write('a.txt', LINES);
    await at.write('b.txt', LINES);
    // A command with an option, as `code --wait` is one.
    const editor = await at.program('editor', `[ "$1" = --wait ] && echo more >> "$2"`);
    const terminal = await at.connect([], { env: { EDITOR: `${editor} --wait` } });
    const changes = [replaceLine(2, 'TWO')];
    await at.patch([
      { path: 'a.txt', changes },
      { path: 'b.txt', changes },
    ]);
    await terminal.shows('[e]dit');
    terminal.enter('e');
    await terminal.shows(/ {2}2 {2}proj\/b\.txt\nWhich file \(1-2, Ctrl-D: back\): /);
    terminal.type('\u0004');
    await terminal.shows('[?] > ');
    terminal.enter('e');
    await terminal.shows('Which file');
    terminal.enter('2');
    await terminal.shows('edited by you');
    await terminal.shows('[?] > ');
    terminal.enter('y');
    await terminal.shows('✓ wrote proj/b.txt (+2 −1)');
    expect([await at.read('a.txt'), await at.read('b.txt')]).toEqual([
      LINES.replace('two', 'TWO'),
      `${LINES.replace('two', 'TWO')}more\n`,
    ]);
    expect((await stat(join(at.folder, 'b.txt'))).mode & 0o111).toBe(0);
  });
});
