import { conflictReason, planPush } from './push-plan.js';
import type { ScannedFile } from './scan-folder.js';

const file = (path: string): ScannedFile => ({
  ...{ path, docPath: `p/${path}`, sizeBytes: 1 },
  stamp: '1 1 1 1',
});

/** `content` of files that were read before, null for binary; `bases` as both sides last had them. */
const plan = (paths: string[], content: Record<string, string | null>, bases: Record<string, string>) => {
  const agreed = new Map(Object.entries(bases).map(([path, sha256]) => [`p/${path}`, sha256]));
  const made = planPush(paths.map(file), {
    isUnchanged: (docPath) => agreed.has(docPath) && content[docPath.slice(2)] === agreed.get(docPath),
    isSpelledLocally: () => true,
    contentOf: (docPath) => content[docPath.slice(2)],
    baseOf: (docPath) => agreed.get(docPath) ?? null,
    bases: () => agreed.entries(),
    baseCount: agreed.size,
  });
  return { ...made, candidates: made.candidates.map(({ path }) => path) };
};

describe('the plan of a push', () => {
  it('reads only what it does not know, or knows to have changed', () => {
    const made = plan(
      ['same', 'changed', 'fresh', 'touched'],
      { same: 'a', changed: 'b' },
      { same: 'a', changed: 'a' },
    );
    expect(made).toMatchObject({ unchanged: 1, candidates: ['changed', 'fresh', 'touched'], unseen: [] });
  });

  it('sends what it has read and never agreed on', () => {
    expect(plan(['a'], { a: 'x' }, {}).candidates).toEqual(['a']);
  });

  it('skips what it knows to be binary without reading it', () => {
    expect(plan(['logo'], { logo: null }, {})).toMatchObject({ candidates: [], binary: [{ path: 'logo' }] });
  });

  it('names what both sides had and it has not come across', () => {
    expect(plan(['here'], {}, { here: 'a', gone: 'a' }).unseen).toEqual(['p/gone']);
  });

  it('says of a conflict what happened', () => {
    expect(conflictReason('a', null)).toContain('was deleted in the Cloud');
    expect(conflictReason('a', 'b')).toContain('was changed in the Cloud');
    expect(conflictReason(null, 'b')).toContain('other content');
  });
});
