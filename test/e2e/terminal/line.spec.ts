import { ConnectAtTerminal } from '../../support/connect-at-terminal.js';
import { testFixture } from '../../support/fixtures.js';
import { RelayProxy } from '../../support/relay-proxy.js';
import { describeAtTerminal, KEYS } from '../../support/terminal.js';

describeAtTerminal('A person whose connection is lost', () => {
  const at = ConnectAtTerminal.forEachTest();
  const line = testFixture(() => RelayProxy.to(Number(new URL(at.server.url).port)));

  it('is told, keeps the question, and their answer is sent after the reconnect', async () => {
    const terminal = await at.connect([], { url: line.url });
    const turn = await at.create('a.txt', 'x\n');
    await terminal.shows('[?] > ');
    terminal.mark();
    line.cut();
    await terminal.shows(/The connection to the server is lost \([^)]+\); retrying\./);
    await terminal.shows(/Your answers are kept until it is back\.\n.*\[\?\] > $/);
    terminal.enter('y');
    await terminal.shows('… kept until the server is back: workspace_create_file proj/a.txt');
    line.mend();
    await terminal.shows(/Connected again\.\n[^]*✓ wrote proj\/a\.txt \(\+1\)/);
    expect((await at.outcome(turn)).status).toBe('succeeded');
  });

  it('can leave, and answered calls stay open', async () => {
    const terminal = await at.connect([], { url: line.url });
    await at.create('a.txt', 'x\n');
    await terminal.shows('[?] > ');
    line.cut();
    await terminal.shows('is lost');
    terminal.enter('y');
    await terminal.shows('… kept until');
    terminal.type(KEYS.ctrlC);
    await terminal.shows(
      'Interrupted. workspace_create_file proj/a.txt: nothing is written, it stays open. "patchbay connect" here asks again.',
    );
    expect((await terminal.exited).code).toBe(130);
    await expect(at.read('a.txt')).rejects.toThrow('ENOENT');
  });

  it('is told when a call ends while they are asked about it', async () => {
    const terminal = await at.connect();
    const turn = await at.create('a.txt', 'x\n');
    await terminal.shows('[?] > ');
    await at.fixture.cancel(turn);
    await terminal.shows('Nothing is written.');
    const [asked, told] = terminal.screen.shown.slice(-3);
    expect(asked).toMatch(/\[\?\] >$/);
    expect(told).toBe('✗ workspace_create_file proj/a.txt: The call was cancelled. Nothing is written.');
  });
});
