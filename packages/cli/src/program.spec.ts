import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT } from './cli-error.js';
import { CliFixture, answerOf } from './program.sample.js';

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
      ['is not a turn', '"x"', 'contains no turn'],
      [
        'has a number that would be rounded',
        '{"toolCalls":[{"n":9007199254740993}]}',
        'the number 9007199254740993',
      ],
    ])('rejects input that %s', async (_what, stdin, message) => {
      await loginAs();
      expect(await patchbay(['turn', '-'], { stdin })).toBe(EXIT.usage);
      expect(fixture.err.text).toContain(message);
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
    ['an invalid server URL', ['login', '--url', 'localhost', '--email', 'a@b']],
    ['a limit that is not a number', ['audit', '--limit', 'x']],
    ['an invalid boolean', ['audit', '--success', 'maybe']],
  ])('rejects %s with exit code 2', async (_what, args) => {
    expect(await patchbay(args)).toBe(EXIT.usage);
  });

  it('prints a stack only on request', async () => {
    expect(await patchbay(['turn', 'missing.json'])).toBe(EXIT.usage);
    expect(fixture.err.text).not.toContain('    at ');
    await patchbay(['turn', 'missing.json'], { env: { DEBUG: '1' } });
    expect(fixture.err.text).toContain('    at ');
  });
});
