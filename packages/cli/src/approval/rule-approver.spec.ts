import type { ToolCallDelivery } from '@patchbay/protocol';
import { WaitingApprover, type ApprovalRequest } from '@patchbay/workspace';
import { RuleApprover, type ApprovalRules } from './rule-approver.js';

const call = { callId: '1', name: 'workspace_create_file', sessionId: 's' } as ToolCallDelivery;
const request = (...paths: string[]): ApprovalRequest => ({
  call,
  files: paths.map((path) => ({ path, before: null, after: '' })),
});
const decide = (rules: ApprovalRules, asked: ApprovalRequest) =>
  new RuleApprover(rules, new WaitingApprover()).decide(asked, AbortSignal.timeout(20));

describe('RuleApprover', () => {
  it('allows everything with --yes and names the rule', async () => {
    expect(await decide({ yes: true }, request('.env'))).toMatchObject({ decision: 'allow', by: '--yes' });
  });

  it('leaves changes of a .gitignore to a person, unless a glob names it', async () => {
    for (const path of ['proj/.gitignore', 'proj/src/.GitIgnore', '.gitignore']) {
      const asked = decide({ yes: true, allow: ['**'] }, request('proj/a.ts', path));
      await expect(asked).rejects.toMatchObject({ name: 'TimeoutError' });
    }
    const named = { yes: true, allow: ['**/.gitignore'] };
    expect(await decide(named, request('proj/.gitignore'))).toMatchObject({ decision: 'allow' });
  });

  it('allows a call whose every path matches a glob', async () => {
    const approval = await decide({ allow: ['src/**', './*.md'] }, request('src/a/b.ts', 'README.md'));
    expect(approval).toMatchObject({ decision: 'allow', by: '--allow src/** ./*.md' });
  });

  it.each([
    ['one path matches no glob', ['src/**'], request('src/a.ts', 'test/a.ts')],
    ['a name begins with a dot', ['**'], request('.github/workflows/ci.yml')],
    ['the path climbs out of the glob', ['src/**'], request('src/../secret')],
    ['the glob begins with an exclamation mark', ['!secret/**'], request('src/a.ts')],
    ['it names no path', ['**'], request()],
  ])('leaves a call to the next approver if %s', async (_why, allow, asked) => {
    await expect(decide({ allow }, asked)).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('rejects an empty glob at once', () => {
    expect(() => new RuleApprover({ allow: [' '] }, new WaitingApprover())).toThrow('must not be empty');
  });
});
