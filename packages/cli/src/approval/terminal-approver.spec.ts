import { PassThrough } from 'node:stream';
import type { ToolCallDelivery } from '@patchbay/protocol';
import type { ApprovalRequest } from '@patchbay/workspace';
import { TerminalApprover } from './terminal-approver.js';

const request = (path = 'src/a.txt', name = 'workspace_create_file', sessionId = 's'): ApprovalRequest => ({
  call: {
    callId: path,
    name,
    sessionId,
    arguments: { path, content: 'hello\n' },
  } as unknown as ToolCallDelivery,
  files: [{ path, before: null, after: 'hello\n' }],
  edit: ([text]) => ({
    files: [{ path, before: null, after: text! }],
    editedArguments: { path, content: text! },
  }),
});

const patchRequest = (...counts: number[]): ApprovalRequest => ({
  call: { callId: 'p', name: 'workspace_write_patch', sessionId: 's' } as unknown as ToolCallDelivery,
  files: counts.map((count, file) => ({
    path: `src/${file}.txt`,
    before: 'old\n',
    after: 'new\n',
    patch: {
      label: null,
      diff: `--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n-old\n+new${file}\n`,
      changes: Array.from({ length: count }, (_, index) => ({
        ...{ changeId: `f${file}c${index}`, changeKey: null, description: `why ${file}.${index}` },
        ...{ operation: 'insert' as const, afterLine: index, newLines: [`line ${index}`] },
      })),
    },
  })),
});

/** A terminal that types `answers`, each when its prompt is there. */
class Typist {
  readonly input = new PassThrough();
  readonly output = new PassThrough();
  readonly options = { by: 'ada', input: this.input, output: this.output, env: process.env };
  readonly approver = new TerminalApprover(this.options);
  screen = '';
  private unread = '';

  constructor(private readonly answers: string[]) {
    this.output.on('data', (chunk: Buffer) => {
      this.screen += chunk.toString();
      this.unread += chunk.toString();
      if (!/(> |: )$/.test(this.unread)) return;
      this.unread = '';
      const answer = this.answers.shift();
      if (answer !== undefined) setImmediate(() => this.input.write(`${answer}\n`));
    });
  }

  decide(asked = request(), signal = new AbortController().signal) {
    return this.approver.decide(asked, signal);
  }
}

describe('TerminalApprover', () => {
  const editor = process.env.EDITOR;
  beforeEach(() => delete process.env.VISUAL);
  afterEach(() => {
    if (editor === undefined) delete process.env.EDITOR;
    else process.env.EDITOR = editor;
  });

  it('shows what would be written and takes a yes', async () => {
    const typist = new Typist(['y']);
    expect(await typist.decide()).toMatchObject({ decision: 'allow', by: 'ada' });
    expect(typist.screen).toContain('new file src/a.txt (1 line, 6 bytes)\n+hello\n');
  });

  it('takes a denial with its note', async () => {
    const typist = new Typist(['n', 'wrong folder']);
    expect(await typist.decide()).toMatchObject({ decision: 'deny', note: 'wrong folder' });
  });

  it('asks again after an answer that it does not know', async () => {
    const typist = new Typist(['', 'constructor', 'Y']);
    expect(await typist.decide()).toMatchObject({ decision: 'allow' });
    expect(typist.screen.match(/Please answer/g)).toHaveLength(2);
  });

  it('asks one question at a time, in order', async () => {
    const typist = new Typist(['y', 'n', '']);
    const both = await Promise.all([typist.decide(request('first')), typist.decide(request('second'))]);
    expect(both.map(({ decision }) => decision)).toEqual(['allow', 'deny']);
    expect(typist.screen.indexOf('second')).toBeGreaterThan(typist.screen.indexOf('> '));
  });

  it('remembers "always this tool" for the session, and for no other session or tool', async () => {
    const typist = new Typist(['a', 'y', 'y']);
    expect(await typist.decide()).toMatchObject({ decision: 'allow_always' });
    expect(await typist.decide(request('other.txt'))).toMatchObject({ decision: 'allow_always' });
    expect(await typist.decide(request('a', 'other_tool'))).toMatchObject({ decision: 'allow' });
    expect(await typist.decide(request('a', 'workspace_create_file', 's2'))).toMatchObject({
      decision: 'allow',
    });
  });

  it('remembers a glob, suggesting the folder of the file', async () => {
    const typist = new Typist(['g', '', 'y']);
    expect(await typist.decide()).toMatchObject({
      decision: 'allow_always',
      note: 'src/** in this session',
    });
    expect(await typist.decide(request('src/deep/b.txt'))).toMatchObject({ decision: 'allow_always' });
    expect(await typist.decide(request('test/b.txt'))).toMatchObject({ decision: 'allow' });
  });

  it('refuses a glob that does not cover the call it was given for', async () => {
    const typist = new Typist(['g', 'docs/**', 'y']);
    expect(await typist.decide()).toMatchObject({ decision: 'allow' });
    expect(typist.screen).toContain('does not match');
  });

  it('hands in what the person made of it in their editor', async () => {
    process.env.EDITOR = `sh -c 'printf "goodbye\\n" > "$1"' editor`;
    const typist = new Typist(['e', 'y']);
    expect(await typist.decide()).toMatchObject({
      decision: 'edit',
      editedArguments: { path: 'src/a.txt', content: 'goodbye\n' },
    });
    expect(typist.screen).toContain('edited by you\n+goodbye\n');
  });

  it('goes on with the proposal as it was when the editor fails', async () => {
    process.env.EDITOR = 'false';
    const typist = new Typist(['e', 'y']);
    expect(await typist.decide()).toMatchObject({ decision: 'allow' });
    expect(typist.screen).toContain('ended with code 1');
  });

  it('shows a long file in part, says how much is hidden, and all of it on demand', async () => {
    const typist = new Typist(['v', 'y']);
    const long = request();
    long.files[0]!.after = Array.from({ length: 100 }, (_, line) => `line ${line}\n`).join('');
    await typist.decide(long);
    const [before, after] = typist.screen.split('... 83 more lines; v shows all');
    expect(before).not.toContain('line 99');
    expect(after).toContain('line 99');
  });

  describe('of a patch', () => {
    const decide = (answers: string[], asked: ApprovalRequest) => {
      const typist = new Typist(answers);
      return typist.decide(asked).then((approval) => ({ approval, screen: typist.screen }));
    };

    it('shows every file, with what each change is for, and takes a yes to all', async () => {
      const { approval, screen } = await decide(['y'], patchRequest(1, 2));
      expect(approval).toMatchObject({ decision: 'allow' });
      expect(approval.rejectedChangeIds).toBeUndefined();
      expect(screen).toContain('patch src/1.txt (2 changes: +1 -1 lines)\n');
      expect(screen).toContain('  insert after line 1: why 1.1\n@@ -1,1 +1,1 @@\n-old\n+new1\n');
      expect(screen).toContain('workspace_write_patch src/0.txt and 1 more (+2 -2)?\n');
      expect(screen).toContain('[s]elect  [v]iew');
      expect(screen).not.toContain('[e]dit');
    });

    it('has single files and single changes accepted or rejected', async () => {
      const { approval, screen } = await decide(['s', 'n', 's', 'y', 'n', 'a'], patchRequest(2, 2, 1));
      expect(approval).toMatchObject({ decision: 'allow', rejectedChangeIds: ['f0c0', 'f0c1', 'f1c1'] });
      expect(screen).toContain('change 2 of 2: insert after line 1: why 1.1\n+line 1\n');
      expect(screen).toContain('file 3 of 3: [a]ll  [n]one  [b]ack  [?] > ');
      expect(screen).toContain('2 of 5 changes accepted.');
    });

    it('asks for the changes at once where there is one file, and again after an unknown answer', async () => {
      const { approval, screen } = await decide(['s', 'yn', 'x', 'n', 'y'], patchRequest(2));
      expect(approval).toMatchObject({ decision: 'allow', rejectedChangeIds: ['f0c0'] });
      expect(screen.match(/Please answer/g)).toHaveLength(2);
    });

    it('takes a selection of everything for a yes, and of nothing for a denial', async () => {
      const all = await decide(['s', 'a', 'a'], patchRequest(1, 1));
      expect(all.approval.rejectedChangeIds).toBeUndefined();
      const none = await decide(['s', 'n', 'n', 'not now'], patchRequest(1, 1));
      expect(none.approval).toMatchObject({ decision: 'deny', note: 'not now' });
    });

    it('has nothing to select in a call that is no patch', async () => {
      const { approval, screen } = await decide(['s', 'y'], request());
      expect(approval).toMatchObject({ decision: 'allow' });
      expect(screen).not.toContain('[s]elect');
      expect(screen).toContain('Please answer');
    });
  });

  it('explains its keys, and goes back from what a key asks', async () => {
    const typist = new Typist(['?', 's', 'b', 's', 's', 'b', 'y']);
    expect(await typist.decide(patchRequest(2, 1))).toMatchObject({ decision: 'allow' });
    expect(typist.screen).toContain('  v  view: show all of it');
    expect(typist.screen.match(/file 1 of 2: patch/g)).toHaveLength(2);
  });

  it('shows what all of it is for, safely', async () => {
    const typist = new Typist(['y']);
    await typist.decide({ ...patchRequest(1), label: 'Rename\u001b[2J it' });
    expect(typist.screen).toContain('wants to\nRename\\x1b[2J it\npatch src/0.txt');
  });

  it('tells of each call that an answer of before lets through', async () => {
    const typist = new Typist(['a']);
    const allowed: string[] = [];
    Object.assign(typist.options, { onAllowed: (_asked: unknown, rule: string) => allowed.push(rule) });
    await typist.decide();
    await typist.decide(request('other.txt'));
    expect(allowed).toEqual(['workspace_create_file in this session']);
  });

  it('withdraws the question when the call ends, and goes on with the next', async () => {
    const typist = new Typist([]);
    const ending = new AbortController();
    const first = typist.decide(request('first'), ending.signal);
    const second = typist.decide(request('second'));
    setTimeout(() => ending.abort(new Error('timed out')), 20);
    await expect(first).rejects.toThrow('timed out');
    setTimeout(() => typist.input.write('y\n'), 20);
    expect(await second).toMatchObject({ decision: 'allow' });
  });

  it('lets a call end that is still waiting for its turn to be asked', async () => {
    const typist = new Typist([]);
    void typist.decide(request('first')).catch(() => undefined);
    await expect(typist.decide(request('second'), AbortSignal.timeout(20))).rejects.toThrow();
    expect(typist.screen).not.toContain('second');
  });

  it('lets other lines be printed without losing the question', async () => {
    const typist = new Typist([]);
    const deciding = typist.decide();
    await new Promise((resolve) => setTimeout(resolve, 20));
    typist.approver.dialogue.interject(() => typist.output.write('Something else.\n'));
    const [, after] = typist.screen.split('Something else.\n');
    expect(after).toContain('[y]es');
    typist.input.write('y\n');
    expect(await deciding).toMatchObject({ decision: 'allow' });
  });

  it('takes whole words too', async () => {
    process.env.EDITOR = `sh -c 'printf "goodbye\\n" > "$1"' editor`;
    const typist = new Typist(['yes', 'Allow', 'no', '', 'deny', '', 'edit', 'y', 'always']);
    const decisions = [];
    for (let call = 0; call < 6; call++) decisions.push((await typist.decide()).decision);
    expect(decisions).toEqual(['allow', 'allow', 'deny', 'deny', 'edit', 'allow_always']);
    expect(typist.screen).not.toContain('Please answer');
    const words = new Typist(['select', 'none', 'select', 'yes', 'no', 'all']);
    const approval = await words.decide(patchRequest(1, 2, 1));
    expect(approval.rejectedChangeIds).toEqual(['f0c0', 'f1c1']);
  });

  it('denies what nobody can be asked about once the terminal is gone', async () => {
    const typist = new Typist([]);
    const waiting = typist.decide();
    setTimeout(() => typist.input.end(), 20);
    const denial = { decision: 'deny', by: 'client', note: 'The terminal was closed before anyone decided.' };
    expect(await waiting).toMatchObject(denial);
    expect(await typist.decide(request('next'))).toMatchObject(denial);
  });

  it('asks again after a Ctrl-D at a terminal that is still there', async () => {
    const typist = new Typist([]);
    Object.assign(typist.input, { isTTY: true });
    Object.assign(typist.output, { isTTY: true, columns: 200 });
    const deciding = typist.decide();
    setTimeout(() => typist.input.write('\u0004'), 20);
    setTimeout(() => typist.input.write('y\n'), 60);
    expect(await deciding).toMatchObject({ decision: 'allow', by: 'ada' });
    expect(typist.screen.match(/\[y\]es/g)!.length).toBeGreaterThan(1);
  });
});
