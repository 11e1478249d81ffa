import { describeAtTerminal, KEYS, Terminal, type TerminalOptions } from '../../support/terminal.js';

describeAtTerminal('A terminal of a test', () => {
  const open: Terminal[] = [];
  afterEach(async () => {
    for (const terminal of open.splice(0)) await terminal.close();
  });
  const node = (script: string, options: TerminalOptions = {}): Terminal => {
    const terminal = Terminal.run([process.execPath, '-e', script], options);
    open.push(terminal);
    return terminal;
  };

  it('is one, of the size that it was given, and tells of another', async () => {
    const size = 'console.log(process.stdin.isTTY, process.stdout.columns, process.stdout.rows)';
    const terminal = node(
      `${size}; process.stdout.on('resize', () => { ${size}; process.exit(3) }); setInterval(() => {}, 1e3)`,
      {
        columns: 40,
        rows: 10,
      },
    );
    await terminal.shows('true 40 10');
    terminal.resize(100, 30);
    await terminal.shows('true 100 30');
    expect(await terminal.exited).toEqual({ code: 3, signal: null });
  });

  it('takes keys and lines, and Ctrl-C as a person presses it', async () => {
    const terminal = node(`process.stdin.on('data', (typed) => console.log('got ' + typed))`);
    terminal.enter('hello');
    await terminal.shows('got hello');
    terminal.type(KEYS.ctrlC);
    expect(await terminal.exited).toEqual({ code: null, signal: 'SIGINT' });
  });

  it('shows what a person sees: lines that wrap, are written over, and scroll away', async () => {
    const terminal = node(
      String.raw`process.stdout.write('abcdefgh\nold\r\x1b[Knew\n\x1b[31m1\x1b[0m\n2\n3\n\x1b[?1049hgone\x1b[?1049l4')`,
      { columns: 5, rows: 3 },
    );
    await terminal.exited;
    expect(terminal.screen.all).toEqual(['abcde', 'fgh', 'new', '1', '2', '3', '4']);
    expect(terminal.screen.shown).toEqual(['2', '3', '4']);
  });

  it('leaves no process behind', async () => {
    const terminal = node(`console.log('here'); setInterval(() => {}, 1000)`);
    await terminal.shows('here');
    await terminal.close();
    expect(() => process.kill(terminal.pid, 0)).toThrow('ESRCH');
  });
});
