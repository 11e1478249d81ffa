import { ConnectAtTerminal, LINES, replaceLine } from '../../support/connect-at-terminal.js';
import { RelayProxy } from '../../support/relay-proxy.js';
import { describeAtTerminal, KEYS } from '../../support/terminal.js';
import { expectTranscript } from '../../support/transcripts.js';

/* `TRANSCRIPTS=write` puts what these show into docs/terminal.md. */
describeAtTerminal('docs/terminal.md shows what a terminal shows', () => {
  const at = ConnectAtTerminal.forEachTest();

  it('for a file that is created', async () => {
    const terminal = await at.connect();
    await at.create(
      'src/greet.ts',
      'export function greet(name: string): string {\n  return `Hello, ${name}!`;\n}\n',
    );
    await terminal.shows('[?] > ');
    terminal.enter('y');
    await terminal.shows('✓ wrote');
    expectTranscript('create', terminal);
  });

  it('for a patch with its labels, which is edited', async () => {
    await at.write('words.txt', LINES);
    const editor = await at.program('vi', `sed -i 's/TWO/Two/' "$1"`);
    const terminal = await at.connect([], { env: { EDITOR: editor } });
    const changes = [replaceLine(2, 'TWO'), replaceLine(4, 'FOUR')];
    await at.patch([{ path: 'words.txt', changes, label: 'Even words' }], 'Capitals');
    await terminal.shows('[?] > ');
    terminal.enter('e');
    await terminal.shows('edited by you');
    await terminal.shows('[?] > ');
    terminal.enter('y');
    await terminal.shows('✓ wrote');
    expectTranscript('edit', terminal);
  });

  it('for a part of a patch, and a denial with its note', async () => {
    await at.write('words.txt', LINES);
    const terminal = await at.connect();
    await at.patch([{ path: 'words.txt', changes: [replaceLine(2, 'TWO'), replaceLine(4, 'FOUR')] }]);
    await terminal.shows('[?] > ');
    terminal.enter('s');
    await terminal.shows('[?] > ');
    terminal.enter('y');
    await terminal.shows('[?] > ');
    terminal.enter('n');
    await terminal.shows('✓ wrote');
    await at.create('notes.txt', 'x\n');
    await terminal.shows('[?] > ');
    terminal.enter('n');
    await terminal.shows('back): ');
    terminal.enter('wrong folder');
    await terminal.shows('✗ denied');
    expectTranscript('select-and-deny', terminal);
  });

  it('for a long file, and leaving', async () => {
    const terminal = await at.connect([], { rows: 16 });
    await at.create('long.txt', Array.from({ length: 120 }, (_, line) => `line ${line}\n`).join(''));
    await terminal.shows('[?] > ');
    terminal.enter('?');
    await terminal.shows(/Ctrl-D {2}goes back[^]*\[\?\] > /);
    terminal.type(KEYS.ctrlC);
    await terminal.exited;
    expectTranscript('long-and-leave', terminal);
  });

  it('for a lost connection', async () => {
    const line = await RelayProxy.to(Number(new URL(at.server.url).port));
    const terminal = await at.connect([], { url: line.url });
    await at.create('a.txt', 'x\n');
    await terminal.shows('[?] > ');
    line.cut();
    await terminal.shows(/is back\.\n.*\[\?\] > $/);
    terminal.enter('y');
    await terminal.shows('kept until');
    line.mend();
    await terminal.shows('✓ wrote');
    expectTranscript('line-gone', terminal);
    line.close();
  });
});
