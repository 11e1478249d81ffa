import { conflictReason, planPush } from './push-plan.js';
import type { ScannedFile } from './scan-folder.js';

const file = (path: string): ScannedFile => ({
  ...{ path, docPath: `p/${path}`, sizeBytes: 1 },
  stamp: '1 1 1 1',
});

/** @param content sha256s of files that were read before, null for binary */
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
  it('reads only files that are unknown or known to have changed', () => {
    const made = plan(
      ['same', 'changed', 'fresh', 'touched'],
      { same: 'a', changed: 'b' },
      { same: 'a', changed: 'a' },
    );
    expect(made).toMatchObject({ unchanged: 1, candidates: ['changed', 'fresh', 'touched'], unseen: [] });
  });

  it('sends files without a base', () => {
    expect(plan(['a'], { a: 'x' }, {}).candidates).toEqual(['a']);
  });

  it('skips known binary files without reading them', () => {
    expect(plan(['logo'], { logo: null }, {})).toMatchObject({ candidates: [], binary: [{ path: 'logo' }] });
  });

  it('lists files with a base that the scan did not find', () => {
    expect(plan(['here'], {}, { here: 'a', gone: 'a' }).unseen).toEqual(['p/gone']);
  });

  it('describes a conflict', () => {
    expect(conflictReason('a', null)).toContain('was deleted in the Cloud');
    expect(conflictReason('a', 'b')).toContain('was changed in the Cloud');
    expect(conflictReason(null, 'b')).toContain('other content');
  });
});
