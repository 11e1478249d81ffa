import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT } from './cli-error.js';
import { CliFixture, answerOf, event, FOREIGN_WORKSPACE, TOKEN } from './program.sample.js';

describe('patchbay', () => {
  const fixture = new CliFixture();
  const { patchbay, loginAs } = fixture;
  beforeEach(() => fixture.open());
  afterEach(() => fixture.close());

  const TURN = 'POST /workspaces/w1/sessions/s1/turns';
  const call = { toolCallId: 'c1', name: 'ls', arguments: {} };

  describe('turn', () => {
    it('prints warnings beside the turn result, as the server answers', async () => {
      await loginAs();
      const warnings = [{ errorCode: 'DIVERGED', message: 'Not what was uploaded.' }];
      fixture.routes[TURN] = () => [200, { ...answerOf('succeeded'), warnings }];
      await patchbay(['turn', '-'], { stdin: JSON.stringify([call]) });
      expect(JSON.parse(fixture.out.text)).toEqual({ ...answerOf('succeeded'), warnings });
    });

    it.each([
      ['a whole turn', { turnId: 't9', toolCalls: [call] }],
      ['a list of calls', [call]],
      ['one call', call],
    ])('posts %s from stdin and prints the turn result', async (_what, content) => {
      await loginAs();
      fixture.routes[TURN] = () => [200, answerOf('succeeded')];
      expect(await patchbay(['turn', '-'], { stdin: JSON.stringify(content) })).toBe(EXIT.ok);
      expect(fixture.requests.at(-1)).toMatchObject({ token: 'access', body: { toolCalls: [call] } });
      expect(JSON.parse(fixture.out.text)).toMatchObject({ result: { kind: 'final', turnId: 't1' } });
    });

    it('posts a file into a given session', async () => {
      await loginAs();
      const file = join(fixture.home, 'turn.json');
      await writeFile(file, JSON.stringify([call]));
      fixture.routes['POST /workspaces/w1/sessions/mine/turns'] = () => [200, answerOf('succeeded')];
      expect(await patchbay(['turn', '--session', 'mine', file])).toBe(EXIT.ok);
    });

    it('applies --tools to a new session only', async () => {
      await loginAs();
      const stdin = JSON.stringify([call]);
      fixture.routes[TURN] = () => [200, answerOf('succeeded')];
      expect(await patchbay(['turn', '--tools', 'ls, read-only', '-'], { stdin })).toBe(EXIT.ok);
      const made = fixture.requests.find(({ route }) => route === 'POST /workspaces/w1/sessions');
      expect(made!.body).toEqual({ tools: ['ls', 'read-only'] });
      const sent = fixture.requests.length;
      expect(await patchbay(['turn', '--tools', 'ls', '--session', 'mine', '-'], { stdin })).toBe(EXIT.usage);
      expect(fixture.err.text).toContain('omit --session');
      for (const list of ['ls,,mv', '']) {
        expect(await patchbay(['turn', '--tools', list, '-'], { stdin })).toBe(EXIT.usage);
      }
      expect(fixture.requests).toHaveLength(sent);
    });

    it.each([
      ['a call failed', answerOf('failed'), EXIT.callFailed],
      ['a call was denied', answerOf('denied'), EXIT.callFailed],
      ['the turn is still open', answerOf('succeeded', 'client_tool_continuation'), EXIT.turnOpen],
    ])('returns an exit code that says that %s', async (_what, answer, exitCode) => {
      await loginAs();
      fixture.routes[TURN] = () => [200, answer];
      expect(await patchbay(['turn', '--wait', '0', '-'], { stdin: JSON.stringify([call]) })).toBe(exitCode);
    });

    it('warns that a call may have run if its client lost track of it', async () => {
      await loginAs();
      const answer = answerOf('failed');
      const error = { code: 'OUTCOME_UNKNOWN', message: 'Look before you try again.' };
      Object.assign(answer.result.toolResults[0]!, { error });
      fixture.routes[TURN] = () => [200, answer];
      expect(await patchbay(['turn', '-'], { stdin: JSON.stringify([call]) })).toBe(EXIT.callFailed);
      expect(fixture.err.text).toContain(
        'Call c1 was running when its client lost track of it: it may have run',
      );
    });

    it.each([
      ['is not JSON', '{', 'is not JSON'],
      ['is no turn', '"x"', 'contains no turn'],
      [
        'holds what would be rounded',
        '{"toolCalls":[{"n":9007199254740993}]}',
        'the number 9007199254740993',
      ],
    ])('rejects input that %s', async (_what, stdin, message) => {
      await loginAs();
      expect(await patchbay(['turn', '-'], { stdin })).toBe(EXIT.usage);
      expect(fixture.err.text).toContain(message);
    });

    it('says what to do without a login', async () => {
      expect(await patchbay(['turn', '-'], { stdin: '[]' })).toBe(EXIT.refused);
      expect(fixture.err.text).toBe(
        `patchbay: Not logged in to ${fixture.url}: run "patchbay login", or pass an access token (--token, PATCHBAY_TOKEN).\n`,
      );
    });
  });

  describe('text from a server or a model', () => {
    const EVIL = 'a\u202eb\u009b2J\u200bc\u001b[8m\nd';
    /** Only visible characters and line ends. */
    const isPlain = (text: string) => !/[^\n\P{C}]|\u2028|\u2029/u.test(text);
    const said = () => fixture.out.text + fixture.err.text;
    beforeEach(async () => void (await loginAs()));

    it('is escaped in a turn, as JSON with the same meaning', async () => {
      const answer = answerOf('failed');
      Object.assign(answer.result.toolResults[0]!, { error: { code: 'X', message: EVIL } });
      fixture.routes[TURN] = () => [200, answer];
      await patchbay(['turn', '-'], { stdin: JSON.stringify([call]) });
      expect(isPlain(said())).toBe(true);
      expect(JSON.parse(fixture.out.text)).toMatchObject(answer);
    });

    it('is escaped in the audit trail, as a table and as JSON', async () => {
      const shown = { ...event(1, { path: EVIL }), name: EVIL, toolCallId: EVIL };
      fixture.routes['GET /workspaces/w1/audit'] = () => [200, { events: [shown], nextCursor: null }];
      for (const flags of [[], ['--json']]) {
        await patchbay(['audit', ...flags]);
        expect(isPlain(said())).toBe(true);
        expect(fixture.out.text.trimEnd().split('\n')).toHaveLength(flags.length === 0 ? 2 : 1);
      }
    });

    it('is escaped in an error, which is one line', async () => {
      fixture.routes[TURN] = () => [400, { error: EVIL, code: 'VALIDATION_ERROR', fields: { [EVIL]: EVIL } }];
      await patchbay(['turn', '-'], { stdin: JSON.stringify([call]), env: { DEBUG: '1' } });
      expect(isPlain(said())).toBe(true);
      expect(fixture.err.text).toMatch(/^patchbay: a\\u\{202e\}b/);
    });

    it('is escaped in names of workspaces and users', async () => {
      const evil = {
        ...FOREIGN_WORKSPACE,
        id: EVIL,
        name: EVIL,
        owners: [{ id: 'b', email: EVIL, fullName: null }],
      };
      fixture.routes['GET /workspaces'] = () => [200, { workspaces: [evil, { ...evil, id: 'other' }] }];
      for (const flags of [
        ['--workspace', EVIL],
        ['--workspace', 'nobody'],
      ]) {
        expect(await patchbay(['audit', '--token', TOKEN, ...flags])).not.toBe(EXIT.ok);
        expect(isPlain(said())).toBe(true);
        expect(said()).toContain('u{202e}');
      }
    });
  });

  it('says why a pull brought nothing, and how to get another folder', async () => {
    await loginAs();
    expect(await patchbay(['pull', join(fixture.home, 'empty')])).toBe(EXIT.ok);
    expect(fixture.out.text).toBe('received 0 files (0 B), 0 unchanged.\n');
    expect(fixture.err.text).toMatch(
      /^The Cloud has no files of a folder with this name: --name <name> pulls another/,
    );
  });

  it('prints help', async () => {
    expect(await patchbay(['--help'])).toBe(EXIT.ok);
    expect(fixture.out.text).toContain('Exit codes: 0 done');
  });

  it.each([
    ['an unknown command', ['--bogus']],
    ['a server that is no URL', ['login', '--url', 'localhost', '--email', 'a@b']],
    ['a limit that is no number', ['audit', '--limit', 'x']],
    ['a truth that is none', ['audit', '--success', 'maybe']],
  ])('rejects %s with exit code 2', async (_what, args) => {
    expect(await patchbay(args)).toBe(EXIT.usage);
  });

  it('says that the server does not answer', async () => {
    await loginAs();
    await fixture.closeServer();
    expect(await loginAs()).toBe(EXIT.unreachable);
    expect(fixture.err.text).toMatch(
      /^patchbay: No answer from http:\S+: connect ECONNREFUSED 127.0.0.1:\d+\. Is the server running there, and --url right\?\n$/,
    );
  });

  it('prints a stack only on request', async () => {
    expect(await patchbay(['turn', 'missing.json'])).toBe(EXIT.usage);
    expect(fixture.err.text).not.toContain('    at ');
    await patchbay(['turn', 'missing.json'], { env: { DEBUG: '1' } });
    expect(fixture.err.text).toContain('    at ');
  });
});
