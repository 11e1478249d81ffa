import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT } from './cli-error.js';
import { CliScene, envelope, event, STRANGERS, TOKEN } from './program.sample.js';

describe('patchbay', () => {
  const scene = new CliScene();
  const { patchbay, loginAs } = scene;
  beforeEach(() => scene.open());
  afterEach(() => scene.close());

  const TURN = 'POST /workspaces/w1/sessions/s1/turns';
  const call = { toolCallId: 'c1', name: 'ls', arguments: {} };

  describe('turn', () => {
    it('prints warnings beside the envelope, as the server answers', async () => {
      await loginAs();
      const warnings = [{ errorCode: 'DIVERGED', message: 'Not what was uploaded.' }];
      scene.routes[TURN] = () => [200, { ...envelope('succeeded'), warnings }];
      await patchbay(['turn', '-'], { stdin: JSON.stringify([call]) });
      expect(JSON.parse(scene.out.text)).toEqual({ ...envelope('succeeded'), warnings });
    });

    it.each([
      ['a whole turn', { turnId: 't9', toolCalls: [call] }],
      ['a list of calls', [call]],
      ['one call', call],
    ])('posts %s from stdin and prints the envelope', async (_what, content) => {
      await loginAs();
      scene.routes[TURN] = () => [200, envelope('succeeded')];
      expect(await patchbay(['turn', '-'], { stdin: JSON.stringify(content) })).toBe(EXIT.ok);
      expect(scene.requests.at(-1)).toMatchObject({ token: 'access', body: { toolCalls: [call] } });
      expect(JSON.parse(scene.out.text)).toMatchObject({ result: { kind: 'final', turnId: 't1' } });
    });

    it('posts a file into a given session', async () => {
      await loginAs();
      const file = join(scene.home, 'turn.json');
      await writeFile(file, JSON.stringify([call]));
      scene.routes['POST /workspaces/w1/sessions/mine/turns'] = () => [200, envelope('succeeded')];
      expect(await patchbay(['turn', '--session', 'mine', file])).toBe(EXIT.ok);
    });

    it('has a new session offer what --tools names, and no session that is there', async () => {
      await loginAs();
      const stdin = JSON.stringify([call]);
      scene.routes[TURN] = () => [200, envelope('succeeded')];
      expect(await patchbay(['turn', '--tools', 'ls, read-only', '-'], { stdin })).toBe(EXIT.ok);
      const made = scene.requests.find(({ route }) => route === 'POST /workspaces/w1/sessions');
      expect(made!.body).toEqual({ tools: ['ls', 'read-only'] });
      const sent = scene.requests.length;
      expect(await patchbay(['turn', '--tools', 'ls', '--session', 'mine', '-'], { stdin })).toBe(EXIT.usage);
      expect(scene.err.text).toContain('leave out --session');
      for (const list of ['ls,,mv', '']) {
        expect(await patchbay(['turn', '--tools', list, '-'], { stdin })).toBe(EXIT.usage);
      }
      expect(scene.requests).toHaveLength(sent);
    });

    it.each([
      ['a call failed', envelope('failed'), EXIT.callFailed],
      ['a call was denied', envelope('denied'), EXIT.callFailed],
      ['the turn is still open', envelope('succeeded', 'client_tool_continuation'), EXIT.turnOpen],
    ])('tells by its exit code that %s', async (_what, answer, exitCode) => {
      await loginAs();
      scene.routes[TURN] = () => [200, answer];
      expect(await patchbay(['turn', '--wait', '0', '-'], { stdin: JSON.stringify([call]) })).toBe(exitCode);
    });

    it('tells who reads along that a call may have been done, where its client has lost track of it', async () => {
      await loginAs();
      const answer = envelope('failed');
      const error = { code: 'OUTCOME_UNKNOWN', message: 'Look before you try again.' };
      Object.assign(answer.result.toolResults[0]!, { error });
      scene.routes[TURN] = () => [200, answer];
      expect(await patchbay(['turn', '-'], { stdin: JSON.stringify([call]) })).toBe(EXIT.callFailed);
      expect(scene.err.text).toContain(
        'Call c1 was running when its client lost its record: it may have run completely',
      );
    });

    it.each([
      ['is not JSON', '{', 'is not JSON'],
      ['is no turn', '"x"', 'holds no turn'],
      [
        'holds what would be rounded',
        '{"toolCalls":[{"n":9007199254740993}]}',
        'the number 9007199254740993',
      ],
    ])('refuses input that %s', async (_what, stdin, message) => {
      await loginAs();
      expect(await patchbay(['turn', '-'], { stdin })).toBe(EXIT.usage);
      expect(scene.err.text).toContain(message);
    });

    it('says what to do without a login', async () => {
      expect(await patchbay(['turn', '-'], { stdin: '[]' })).toBe(EXIT.refused);
      expect(scene.err.text).toBe(
        `patchbay: Not logged in to ${scene.url}: run "patchbay login", or pass an access token (--token, PATCHBAY_TOKEN).\n`,
      );
    });
  });

  describe('what a server or a model says', () => {
    const EVIL = 'a\u202eb\u009b2J\u200bc\u001b[8m\nd';
    /** Nothing but what one sees, and line ends. */
    const isPlain = (text: string) => !/[^\n\P{C}]|\u2028|\u2029/u.test(text);
    const said = () => scene.out.text + scene.err.text;
    beforeEach(async () => void (await loginAs()));

    it('reaches the terminal with nothing that steers it: in a turn, as JSON that means the same', async () => {
      const answer = envelope('failed');
      Object.assign(answer.result.toolResults[0]!, { error: { code: 'X', message: EVIL } });
      scene.routes[TURN] = () => [200, answer];
      await patchbay(['turn', '-'], { stdin: JSON.stringify([call]) });
      expect(isPlain(said())).toBe(true);
      expect(JSON.parse(scene.out.text)).toMatchObject(answer);
    });

    it('nor in the audit trail, as a table or as JSON', async () => {
      const shown = { ...event(1, { path: EVIL }), name: EVIL, toolCallId: EVIL };
      scene.routes['GET /workspaces/w1/audit'] = () => [200, { events: [shown], nextCursor: null }];
      for (const flags of [[], ['--json']]) {
        await patchbay(['audit', ...flags]);
        expect(isPlain(said())).toBe(true);
        expect(scene.out.text.trimEnd().split('\n')).toHaveLength(flags.length === 0 ? 2 : 1);
      }
    });

    it('nor in an error, which is one line', async () => {
      scene.routes[TURN] = () => [400, { error: EVIL, code: 'VALIDATION_ERROR', fields: { [EVIL]: EVIL } }];
      await patchbay(['turn', '-'], { stdin: JSON.stringify([call]), env: { DEBUG: '1' } });
      expect(isPlain(said())).toBe(true);
      expect(scene.err.text).toMatch(/^patchbay: a\\u\{202e\}b/);
    });

    it('nor in the names of workspaces and users', async () => {
      const evil = { ...STRANGERS, id: EVIL, name: EVIL, owners: [{ id: 'b', email: EVIL, fullName: null }] };
      scene.routes['GET /workspaces'] = () => [200, { workspaces: [evil, { ...evil, id: 'other' }] }];
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

  it('says why a pull has brought nothing, and how to get another folder', async () => {
    await loginAs();
    expect(await patchbay(['pull', join(scene.home, 'empty')])).toBe(EXIT.ok);
    expect(scene.out.text).toBe('received 0 files (0 B), 0 unchanged.\n');
    expect(scene.err.text).toMatch(
      /^The Cloud has no file of a folder of this name: --name <name> pulls another/,
    );
  });

  it('tells what it can do', async () => {
    expect(await patchbay(['--help'])).toBe(EXIT.ok);
    expect(scene.out.text).toContain('Exit codes: 0 done');
  });

  it.each([
    ['an unknown command', ['--bogus']],
    ['a server that is no URL', ['login', '--url', 'localhost', '--email', 'a@b']],
    ['a limit that is no number', ['audit', '--limit', 'x']],
    ['a truth that is none', ['audit', '--success', 'maybe']],
  ])('refuses %s with exit code 2', async (_what, args) => {
    expect(await patchbay(args)).toBe(EXIT.usage);
  });

  it('says that the server does not answer', async () => {
    await loginAs();
    await scene.closeServer();
    expect(await loginAs()).toBe(EXIT.unreachable);
    expect(scene.err.text).toMatch(
      /^patchbay: No answer from http:\S+: connect ECONNREFUSED 127.0.0.1:\d+\. Is the server running there, and --url right\?\n$/,
    );
  });

  it('prints no stack unless asked for', async () => {
    expect(await patchbay(['turn', 'missing.json'])).toBe(EXIT.usage);
    expect(scene.err.text).not.toContain('    at ');
    await patchbay(['turn', 'missing.json'], { env: { DEBUG: '1' } });
    expect(scene.err.text).toContain('    at ');
  });
});
