import { ConnectAtTerminal } from '../../support/connect-at-terminal.js';
import { describeAtTerminal } from '../../support/terminal.js';

const LONG = Array.from({ length: 200 }, (_, line) => `line ${line}\n`).join('');

describeAtTerminal('The question to a person', () => {
  const at = ConnectAtTerminal.forEachTest();

  it('fits the window, and fits it again when that gets another size', async () => {
    const terminal = await at.connect([], { columns: 80, rows: 20 });
    await at.create('long.txt', LONG);
    await terminal.shows('[?] > ');
    const shown = () => terminal.screen.shown.join('\n');
    expect(shown()).toContain('workspace_create_file wants to\nnew file proj/long.txt');
    expect(shown()).toContain(
      '… 187 more lines; v shows all\nworkspace_create_file proj/long.txt (+200)?\nKey + Enter: [y]es',
    );
    terminal.mark();
    terminal.resize(38, 12);
    await terminal.shows('… 196 more lines; v shows all\nworkspace_create_file');
    await terminal.shows('y/n/e/v/a/g/? > ');
    expect(shown()).toContain('workspace_create_file wants to\nnew file proj/long.txt');
    expect(terminal.screen.shown.every((line) => line.length <= 38)).toBe(true);
    terminal.enter('y');
    await terminal.shows('✓ wrote proj/long.txt (+200)');
  });

  it('counts omitted files, and names those that fit', async () => {
    const files = Array.from({ length: 12 }, (_, at) => `f${at}.txt`);
    const changes = [{ operation: 'insert', afterLine: 0, newLines: ['a', 'b', 'c', 'd'] }];
    for (const path of files) await at.write(path, 'one\n');
    const terminal = await at.connect([], { rows: 20 });
    await at.patch(files.map((path) => ({ path, changes, text: 'one\n' })));
    await terminal.shows('[?] > ');
    expect(terminal.said).toMatch(
      /patch proj\/f0\.txt.*\n[^]*… \d+ more files; v shows all\nworkspace_write_patch proj\/f0\.txt and 11 more \(\+48\)\?/,
    );
    expect(terminal.screen.shown.join('\n')).toContain('workspace_write_patch wants to');
  });

  it('is complete in the pager, after which the question is asked again', async () => {
    const terminal = await at.connect([], { rows: 20 });
    await at.create('long.txt', LONG);
    await terminal.shows('[?] > ');
    terminal.enter('v');
    await terminal.shows('line 10');
    expect(terminal.said).not.toContain('line 199');
    terminal.type('G');
    await terminal.shows('line 199');
    // A Ctrl-C is the pager's.
    terminal.type('\u0003');
    // It drops what was typed before it has seen that.
    await new Promise((resolve) => setTimeout(resolve, 300));
    terminal.type('q');
    await terminal.shows(/workspace_create_file proj\/long\.txt \(\+200\)\?\n.*\[y\]es.*> /);
  });

  it('is sent to the chosen pager, with its options or as a line for a shell', async () => {
    const pager = await at.program('pager', `echo "paged $1 $(wc -l)"`);
    const terminal = await at.connect([], { env: { PAGER: `X=1 ${pager} -a | tr a-z A-Z` } });
    await at.create('long.txt', LONG);
    await terminal.shows('[?] > ');
    terminal.enter('v');
    await terminal.shows('PAGED -A 204');
    await terminal.shows('[?] > ');
  });

  it.each([
    ['a terminal without a cursor has no pager, colours or signs', { TERM: 'dumb' }],
    ['a locale without UTF-8 has no signs', { LANG: 'C', PAGER: 'cat' }],
  ])('is plain text when required: %s', async (_what, env: Record<string, string>) => {
    const terminal = await at.connect([], { env });
    const before = terminal.raw.length;
    await at.create('long.txt', LONG);
    await terminal.shows('... 183 more lines; v shows all');
    await terminal.shows('[?] > ');
    terminal.enter('v');
    await terminal.shows('line 199');
    await terminal.shows('[?] > ');
    terminal.enter('y');
    await terminal.shows('ok wrote proj/long.txt (+200)');
    // eslint-disable-next-line no-control-regex -- what must not be there
    expect(terminal.raw.slice(before)).not.toMatch(/[^\x00-\x7f]/);
    if ('TERM' in env) expect(terminal.raw.slice(before)).not.toContain('\u001b[3');
  });

  it('has no colours with NO_COLOR, and colours otherwise', async () => {
    for (const [env, coloured] of [
      [{ NO_COLOR: '1' }, false],
      [{}, true],
    ] as const) {
      const terminal = await at.connect([], { env });
      await at.create(`${coloured}.txt`, 'green\n');
      await terminal.shows('[?] > ');
      expect(terminal.raw.includes('\u001b[32m+green')).toBe(coloured);
      terminal.enter('y');
      await terminal.shows('✓ wrote');
      await terminal.close();
    }
  });
});
