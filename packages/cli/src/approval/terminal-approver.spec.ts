import type { ApprovalRequest } from '@patchbay/workspace';
import { patchRequest, request, Typist } from './typist.sample.js';

describe('TerminalApprover', () => {
  const editor = process.env.EDITOR;
  beforeEach(() => delete process.env.VISUAL);
  afterEach(() => {
    if (editor === undefined) delete process.env.EDITOR;
    else process.env.EDITOR = editor;
  });

  it('asks again after an unknown answer', async () => {
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

  it('counts waiting calls without the open question and without answered ones', async () => {
    const typist = new Typist(['y', 'y', 'y']);
    await Promise.all(['one', 'two', 'three'].map((path) => typist.decide(request(path))));
    expect(typist.screen.match(/wants to.*/g)).toEqual([
      'wants to (2 more wait)',
      'wants to (1 more waits)',
      'wants to',
    ]);
  });

  describe('of a patch', () => {
    const decide = (answers: string[], asked: ApprovalRequest) => {
      const typist = new Typist(answers);
      return typist.decide(asked).then((approval) => ({ approval, screen: typist.screen }));
    };

    it('shows every file with the purpose of each change, and accepts a yes to all', async () => {
      const { approval, screen } = await decide(['y'], patchRequest(1, 2));
      expect(approval).toMatchObject({ decision: 'allow' });
      expect(approval.rejectedChangeIds).toBeUndefined();
      expect(screen).toContain('patch src/1.txt (2 changes: +1 -1 lines)\n');
      expect(screen).toContain('  insert after line 1: why 1.1\n@@ -1,1 +1,1 @@\n-old\n+new1\n');
      expect(screen).toContain('workspace_write_patch src/0.txt and 1 more (+2 -2)?\n');
      expect(screen).toContain('[s]elect  [v]iew');
      expect(screen).not.toContain('[e]dit');
    });

    it('lets a person accept or reject single files and single changes', async () => {
      const { approval, screen } = await decide(['s', 'n', 's', 'y', 'n', 'y'], patchRequest(2, 2, 1));
      expect(approval).toMatchObject({ decision: 'allow', rejectedChangeIds: ['f0c0', 'f0c1', 'f1c1'] });
      expect(screen).toContain('change 2 of 2: insert after line 1: why 1.1\n+line 1\n');
      expect(screen).toContain('file 3 of 3. Key + Enter: [y]es  [n]o  [v]iew  [b]ack  [?] > ');
      expect(screen).toContain('2 of 5 changes accepted.');
    });

    it('asks for the changes at once if there is one file, and again after an unknown answer', async () => {
      const { approval, screen } = await decide(['s', 'yn', 'x', 'n', 'y'], patchRequest(2));
      expect(approval).toMatchObject({ decision: 'allow', rejectedChangeIds: ['f0c0'] });
      expect(screen.match(/Please answer/g)).toHaveLength(2);
    });

    it('takes a selection of everything as a yes, and of nothing as a denial', async () => {
      const all = await decide(['s', 'y', 'y'], patchRequest(1, 1));
      expect(all.approval.rejectedChangeIds).toBeUndefined();
      const none = await decide(['s', 'n', 'n', 'not now'], patchRequest(1, 1));
      expect(none.approval).toMatchObject({ decision: 'deny', note: 'not now' });
    });

    it('offers no selection for a call that is not a patch', async () => {
      const { approval, screen } = await decide(['s', 'y'], request());
      expect(approval).toMatchObject({ decision: 'allow' });
      expect(screen).not.toContain('[s]elect');
      expect(screen).toContain('Please answer');
    });
  });

  it('withdraws the question when the call ends, and asks the next', async () => {
    const typist = new Typist([]);
    const ending = new AbortController();
    const first = typist.decide(request('first'), ending.signal);
    const second = typist.decide(request('second'));
    setTimeout(() => ending.abort(new Error('timed out')), 20);
    await expect(first).rejects.toThrow('timed out');
    setTimeout(() => typist.input.write('y\n'), 20);
    expect(await second).toMatchObject({ decision: 'allow' });
  });

  it('lets a call end that still waits for its question', async () => {
    const typist = new Typist([]);
    void typist.decide(request('first')).catch(() => undefined);
    await expect(typist.decide(request('second'), AbortSignal.timeout(20))).rejects.toThrow();
    expect(typist.screen).not.toContain('second');
  });

  it('accepts whole words', async () => {
    process.env.EDITOR = `sh -c 'printf "goodbye\\n" > "$1"' editor`;
    const typist = new Typist(['yes', 'Allow', 'no', '', 'deny', '', 'edit', 'y', 'always', 'yes']);
    const decisions = [];
    for (let call = 0; call < 6; call++) decisions.push((await typist.decide()).decision);
    expect(decisions).toEqual(['allow', 'allow', 'deny', 'deny', 'edit', 'allow_always']);
    expect(typist.screen).not.toContain('Please answer');
    const words = new Typist(['select', 'none', 'select', 'yes', 'no', 'all']);
    const approval = await words.decide(patchRequest(1, 2, 1));
    expect(approval.rejectedChangeIds).toEqual(['f0c0', 'f1c1']);
  });

  it('denies calls once the terminal is gone', async () => {
    const typist = new Typist([]);
    const waiting = typist.decide();
    setTimeout(() => typist.input.end(), 20);
    const denial = { decision: 'deny', by: 'client', note: 'The terminal was closed before anyone decided.' };
    expect(await waiting).toMatchObject(denial);
    expect(await typist.decide(request('next'))).toMatchObject(denial);
  });
});
