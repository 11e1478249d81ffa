import { ConnectAtTerminal, replaceLine, LINES } from '../../support/connect-at-terminal.js';
import { describeAtTerminal, KEYS } from '../../support/terminal.js';

describeAtTerminal('A person who leaves', () => {
  const at = ConnectAtTerminal.forEachTest();

  it.each([
    ['the decision', [], '[?] > '],
    ['the note of a denial', ['n'], 'Why, for the model'],
    ['a glob', ['g'], 'Glob ['],
    ['a change', ['s'], 'change 1 of 2: '],
    ['a change, after another', ['s', 'y'], 'change 2 of 2: '],
  ] as [string, string[], string][])(
    'at the question of %s sees what stays open, and the exit code is 130',
    async (_what, keys, question) => {
      await at.write('a.txt', LINES);
      const terminal = await at.connect();
      await at.patch([{ path: 'a.txt', changes: [replaceLine(1, '1'), replaceLine(2, '2')] }]);
      await terminal.shows('[?] > ');
      for (const key of keys) {
        terminal.enter(key);
        await terminal.shows(/(> |: )$/);
      }
      expect(terminal.said).toContain(question);
      terminal.type(KEYS.ctrlC);
      await terminal.shows(
        'Interrupted. workspace_write_patch proj/a.txt: nothing is written, it stays open. "patchbay connect" here asks again.\n',
      );
      expect(await terminal.exited).toEqual({ code: 130, signal: null });
      expect(await at.read('a.txt')).toBe(LINES);
      expect(terminal.said.trim().split('\n')).toHaveLength(2);
    },
  );

  it('is asked again at the next connect', async () => {
    const terminal = await at.connect();
    const turn = await at.create('a.txt', 'x\n');
    await terminal.shows('[?] > ');
    terminal.type(KEYS.ctrlC);
    await terminal.exited;
    const again = await at.connect();
    await again.shows('[?] > ');
    again.enter('y');
    await again.shows('✓ wrote proj/a.txt');
    expect((await at.outcome(turn)).status).toBe('succeeded');
  });

  it('without open calls is told so, with exit code 130', async () => {
    const terminal = await at.connect();
    terminal.type(KEYS.ctrlC);
    await terminal.shows('patchbay: Interrupted. No call was open.');
    expect((await terminal.exited).code).toBe(130);
  });

  it('does not wait at a second Ctrl-C', async () => {
    const editor = await at.program('editor', 'exec sleep 600');
    const terminal = await at.connect([], { env: { EDITOR: editor } });
    await at.create('a.txt', 'x\n');
    await terminal.shows('[?] > ');
    terminal.type(KEYS.ctrlC);
    terminal.type(KEYS.ctrlC);
    expect((await terminal.exited).code).toBe(130);
  });

  it('keeps the question at Ctrl-D and is told how to leave', async () => {
    const terminal = await at.connect();
    await at.create('a.txt', 'x\n');
    await terminal.shows('[?] > ');
    terminal.type(KEYS.ctrlD);
    await terminal.shows(
      /n refuses, Ctrl-C\s+leaves\.\nworkspace_create_file proj\/a\.txt \(\+1\)\?\n.*\[\?\] > /,
    );
  });
});
