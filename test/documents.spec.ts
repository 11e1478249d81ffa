import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { DOCUMENT } from './support/documented.js';

const ROOT = join(import.meta.dirname, '..');

/** Every document of the repository: tracked ones, and new ones that git does not ignore. */
const documents = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .trim()
  .split('\n')
  .filter((path) => existsSync(join(ROOT, path)));

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** A document without its blocks of code, and without code in a line. */
const prose = (text: string): string => text.replace(/^```[^]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');

/** Relative links, with what stands after `#`. */
function linksIn(text: string): { path: string; anchor: string | undefined }[] {
  return [...prose(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target!)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path, anchor] = target.split('#');
      return { path: path!, anchor };
    });
}

/** The anchors of a document's headings, as GitHub makes them. */
function anchorsIn(text: string): string[] {
  const headings = text.replace(/^```[^]*?^```$/gm, '').matchAll(/^#+ (.*)$/gm);
  const seen = new Map<string, number>();
  return [...headings].map(([, heading]) => {
    const plain = heading!.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = plain.replace(/[^\p{L}\p{N}\p{M} _-]/gu, '').replaceAll(' ', '-');
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  });
}

/** Links of a document that lead nowhere. */
function brokenLinksIn(document: string, text = read(document)): string[] {
  return linksIn(text)
    .filter(({ path, anchor }) => {
      const target = path === '' ? document : relative(ROOT, join(ROOT, dirname(document), path));
      if (target !== document && (target.startsWith('..') || !existsSync(join(ROOT, target)))) return true;
      const targetText = target === document ? text : target.endsWith('.md') ? read(target) : '';
      return anchor !== undefined && !anchorsIn(targetText).includes(anchor);
    })
    .map(({ path, anchor }) => `${path}${anchor === undefined ? '' : `#${anchor}`}`);
}

describe('The documents', () => {
  it('name only files and directories that exist, in ARCHITECTURE.md', () => {
    const named = [...read('ARCHITECTURE.md').matchAll(/`((?:src|packages|test|examples|docs)\/[\w./-]+)`/g)];
    expect(named.length).toBeGreaterThan(30);
    expect(named.map(([, path]) => path!).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('are found', () => {
    expect(documents).toEqual(
      expect.arrayContaining(['README.md', 'docs/operations.md', 'packages/cli/README.md']),
    );
  });

  it.each(documents)('%s links only to files and headings that exist', (document) => {
    expect(brokenLinksIn(document)).toEqual([]);
  });

  it('are all linked from the README, but for those of packages', () => {
    const linked = linksIn(read('README.md')).map(({ path }) => path);
    const others = documents.filter((path) => path !== 'README.md' && !/^(packages|examples)\//.test(path));
    expect(others.filter((path) => !linked.includes(path))).toEqual([]);
  });
});

describe('The search for broken links', () => {
  const page = (text: string) => brokenLinksIn('docs/page.md', text);

  it.each([
    '[a](../README.md)',
    '[a](testing.md#suites)',
    '# A `b` [c](testing.md), d\n[a](#a-b-c-d)',
    '# A\n# A\n[second](#a-1)',
    '[a](https://example.com/none.md)',
    '`[a](none.md)`',
  ])('accepts %j', (text) => expect(page(text)).toEqual([]));

  it.each([
    ['[a](none.md)', 'none.md'],
    ['[a](testing.md#none)', 'testing.md#none'],
    ['[a](#none)', '#none'],
    ['[a](../../outside.md)', '../../outside.md'],
    ['```\n# Code\n```\n[a](#code)', '#code'],
  ])('finds the broken link of %j', (text, link) => expect(page(text)).toEqual([link]));
});

describe('docs/api.md', () => {
  it('lists every route of the API, and no other', () => {
    const listed = [...read('docs/api.md').matchAll(/`((?:GET|PUT|POST|DELETE|PATCH) [^`?]+)`/g)]
      .map(([, route]) => route!)
      .filter((route) => !route.includes('turn-1'));
    const shown = listed.map((route) =>
      route.replace('…', '/workspaces/:workspaceId').replace(/:(\w+)/g, '{$1}'),
    );
    const routes = Object.entries(DOCUMENT.paths)
      .filter(([path]) => path.startsWith('/api/v1'))
      .flatMap(([path, item]) =>
        Object.keys(item).map((method) => `${method.toUpperCase()} ${path.replace('/api/v1', '')}`),
      );
    expect([...new Set(shown)].sort()).toEqual(routes.sort());
  });
});
