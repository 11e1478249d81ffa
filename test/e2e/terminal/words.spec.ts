import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { CommandFixture } from '../../support/command-fixture.js';
import { ConnectAtTerminal, LINES, replaceLine } from '../../support/connect-at-terminal.js';
import { suiteFixture, testFixture } from '../../support/fixtures.js';
import { createCall } from '../../support/relay-fixture.js';
import { startTestServer } from '../../support/server.js';
import { describeAtTerminal, type Terminal } from '../../support/terminal.js';

const COLUMNS = 46;

const wordsIn = (text: string) => text.split(/\s+/).filter((word) => word !== '');

describeAtTerminal('In a narrow window', () => {
  const at = new ConnectAtTerminal();
  const server = suiteFixture(() => startTestServer());
  const setup = testFixture(() => CommandFixture.on(server));
  beforeAll(() => at.start());
  afterAll(() => at.close());

  /** Words on the screen that nobody has said. A word that is longer than a row cannot be whole. */
  function broken(terminal: Terminal, said: string): string[] {
    const known = new Set(wordsIn(said));
    const long = [...known].filter((word) => word.length > COLUMNS);
    return wordsIn(terminal.screen.all.join('\n')).filter(
      (word) => !known.has(word) && !long.some((whole) => whole.includes(word)),
    );
  }

  describe('breaks no word of the output', () => {
    beforeEach(() => setup.fixture.post([createCall('c1', 'proj/a.txt')]));

    it.each([
      ['--help'],
      ['connect', '--help'],
      ['audit', '--help'],
      ['status', '--help'],
      ['completion', '--help'],
      ['workspaces'],
      ['approvals'],
      ['audit'],
      ['connect', '--root', '/nowhere/at/all'],
      ['turn'],
      ['revert', '00000000-0000-4000-8000-000000000000'],
      ['bogus'],
    ])('of %s %s', async (...args) => {
      const isHelp = args.includes('--help') || args[0] === 'bogus';
      const { out, err } = await (isHelp ? setup.bare(args) : setup.run(args[0], ...args.slice(1)));
      const terminal = setup.terminal(args, { columns: COLUMNS });
      await terminal.exited;
      expect(broken(terminal, out + err)).toEqual([]);
      expect(terminal.screen.all.length).toBeGreaterThan(1);
    });

    it('of status, whose lines wrap after their label', async () => {
      const folder = await setup.folder('proj', { 'a.txt': 'a\n' });
      const { out } = await setup.run('status', folder);
      const terminal = setup.terminal(['status', folder], { columns: COLUMNS });
      await terminal.exited;
      expect(terminal.screen.all.join('\n')).toContain(
        'Clients    none was ever connected: run\n           ',
      );
      const times = (text: string) => text.replaceAll(/\d+ s\b/g, '');
      expect(broken(terminal, times(out)).filter((word) => !/^\d+$|^s$/.test(word))).toEqual([]);
    });
  });

  describe('breaks no word of a question', () => {
    beforeEach(() => at.open());
    afterEach(() => at.leave());

    it('nor of the help for its keys, of a rule or of the end', async () => {
      await at.write('words.txt', LINES);
      const label = 'Capitals are what the person has asked for in the last message';
      const terminal = await at.connect([], { columns: COLUMNS, rows: 50 });
      await at.patch([{ path: 'words.txt', changes: [replaceLine(2, 'TWO')], label }], label);
      await terminal.shows('/? > ');
      const title = 'patch proj/words.txt (1 change: +1 −1 lines):';
      expect(terminal.screen.shown.join('\n')).toContain(
        `Capitals are what the person has asked for in\nthe last message\n${title}\nCapitals are`,
      );
      terminal.enter('?');
      await terminal.shows('/? > ');
      expect(terminal.screen.shown.join('\n')).toContain(
        '  a  always: allow all calls of this tool in\n    this session; shows the rule first\n',
      );
      terminal.enter('g');
      await terminal.shows('back): ');
      expect(terminal.screen.shown.join('\n')).toContain(
        'The rule allows, without asking, every call of\nworkspace_create_file or\n',
      );
    });
  });

  it('output for a program is not wrapped', async () => {
    const turn = join(setup.directory, 'turn.json');
    const content = 'a text that is far longer than the window of this terminal has columns\n';
    await writeFile(
      turn,
      JSON.stringify([{ toolCallId: 'w', name: 'write', arguments: { path: '/a', content } }]),
    );
    const terminal = setup.terminal(['turn', turn], { columns: COLUMNS });
    await terminal.exited;
    expect(terminal.raw).toContain('"successful": true');
    const audit = setup.terminal(['audit', '--json'], { columns: COLUMNS });
    await audit.exited;
    for (const line of audit.raw.trim().split(/\r?\n/))
      expect(() => JSON.parse(line) as unknown).not.toThrow();
  });
});
