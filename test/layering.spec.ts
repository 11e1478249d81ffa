import { createFile, writePatch } from '@patchbay/protocol';
import {
  COMPUTING,
  cycleIn,
  importsOf,
  offences,
  reachable,
  type Source,
  sourcesIn,
  specsIn,
  valueImports,
} from './support/sources.js';

/* The import rules of ARCHITECTURE.md for the server; those of the packages are in packages.spec.ts. */

/** Files that carry the logic: nothing that they load, at however many steps, is a framework, a store or a socket. */
const PURE = [
  'src/turns/intake/tool-call-forms.ts',
  'src/turns/state/deadlines.ts',
  'src/common/digest.ts',
  'src/turns/state/turn-draft.ts',
  'src/turns/state/turn-state.ts',
  'src/storage/ports/turn.ts',
];
const src = sourcesIn('src');

const isOurs = (name: string): boolean =>
  name.startsWith('src/') || name.startsWith('packages/') || name.startsWith('@patchbay/');
const isProtocol = (name: string): boolean => /^@patchbay\/protocol(?:$|\/)/.test(name);
/** `turns` of `src/turns/state/turn-state.ts`; null for what lies beside the folders. */
const featureOf = (path: string): string | null => /^src\/([^/]+)\//.exec(path)?.[1] ?? null;

/** Code without its comments; a string that holds what looks like one loses its end, which hides no name before it. */
const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');

describe('the scanner', () => {
  it('sees every kind of import', () => {
    const text = [
      "import { a } from './a.js';",
      "import type {\n  B,\n} from '../b.js';",
      "export * from './c.js';",
      "export { type D } from 'd';",
      "import 'reflect-metadata';",
      "const e = await import('./e.js');",
      "export const from = 'nowhere';",
    ].join('\n');
    expect(importsOf(text)).toEqual(['./a.js', '../b.js', './c.js', 'd', 'reflect-metadata', './e.js']);
  });

  it('finds a cycle where there is one', () => {
    const graph = (edges: Record<string, string[]>) =>
      new Map(Object.entries(edges).map(([from, to]) => [from, new Set(to)]));
    expect(cycleIn(graph({ a: ['b', 'c'], b: ['c'], c: [] }))).toBeNull();
    expect(cycleIn(graph({ a: ['b'], b: ['c'], c: ['b'] }))).toEqual(['b', 'c', 'b']);
  });

  it('reads the whole house', () => {
    expect(src.length).toBeGreaterThan(10);
    expect(src.find(({ path }) => path === 'src/turns/state/turn-state.ts')!.imports).toContain(
      'src/turns/state/turn-draft.ts',
    );
  });
});

describe('the server', () => {
  it('knows the protocol by its name, and no other package of ours', () => {
    expect(offences(src, (name) => isOurs(name) && !name.startsWith('src/') && !isProtocol(name))).toEqual(
      [],
    );
  });

  it('has no two features that need each other', () => {
    const graph = new Map<string, Set<string>>();
    for (const { path, imports } of src) {
      const feature = featureOf(path);
      if (feature === null || feature === 'storage') continue;
      const others = graph.get(feature) ?? new Set<string>();
      for (const name of imports) {
        const other = featureOf(name);
        if (other !== null && other !== feature && other !== 'storage') others.add(other);
      }
      graph.set(feature, others);
    }
    expect(cycleIn(graph)).toBeNull();
    expect([...(graph.get('config') ?? [])]).toEqual([]);
    expect([...(graph.get('common') ?? [])]).toEqual(['config']);
  });

  it('has turns in layers: the engine knows neither HTTP nor relay, the state neither engine nor intake', () => {
    const below = (folder: string, ...known: string[]): string[] =>
      offences(
        src.filter(({ path }) => path.startsWith(`src/turns/${folder}/`)),
        (name) =>
          name.startsWith('src/turns/') && !known.some((other) => name.startsWith(`src/turns/${other}/`)),
      );
    expect(below('state', 'state')).toEqual([]);
    expect(below('intake', 'intake', 'state')).toEqual([]);
    const engine = src.filter(({ path }) => path.startsWith('src/turns/engine/'));
    expect(offences(engine, (name) => /^src\/(?:agent-api|relay)\/|^fastify$|\.dto\.ts$/.test(name))).toEqual(
      [],
    );
  });

  describe('with tools that each are one object', () => {
    const isTool = ({ path }: Source): boolean => /^src\/tools\/[^/]+\.tool\.ts$/.test(path);
    const others = src.filter((source) => !isTool(source));
    const names = [
      ...src.filter(isTool).flatMap(({ text }) => /^ {2}name: '(\w+)',$/m.exec(text)?.[1] ?? []),
      ...[createFile.name, writePatch.name],
    ];
    /** `file: what it says` of all code, comments aside, that names what the pattern finds. */
    const saying = (pattern: RegExp): string[] =>
      others.flatMap(({ path, text }) =>
        [...withoutComments(text).matchAll(pattern)].map(([said]) => `${path}: ${said}`),
      );

    it('names none of them in any other file', () => {
      expect(names).toHaveLength(src.filter(isTool).length);
      const elsewhere = saying(new RegExp(`(['"\`])(?:${names.join('|')})\\1`, 'g'));
      expect(new Set(elsewhere)).toEqual(
        new Set([
          // Words that mean something else there: a kind of property, a route, a person's decision.
          "src/common/request.decorators.ts: 'read'",
          "src/common/request-parser.ts: 'read'",
          "src/files/blobs.controller.ts: 'read'",
          "src/turns/engine/result-check.ts: 'edit'",
          "src/turns/intake/approval.dto.ts: 'edit'",
        ]),
      );
    });

    it('reads neither their contracts nor the lists of the protocol that name them, and imports no tool', () => {
      const words = /\b(?:createFile|writePatch|CLOUD_CHANGES|isCloudChange)\b(?= *[,.)}(])/g;
      expect(new Set(saying(words))).toEqual(
        new Set([
          // It posts a call of that tool, like an orchestrator.
          'src/agent-api/reverts.service.ts: writePatch',
          // The wire has the names that a workspace may set; the tools are held to them when the server starts.
          'src/workspaces/workspaces.dto.ts: CLOUD_CHANGES',
          'src/tools/built-in-tools.ts: isCloudChange',
        ]),
      );
      expect(offences(others, (name) => name.endsWith('.tool.ts'))).toEqual([]);
    });
  });

  it('has no two files that need each other', () => {
    expect(cycleIn(new Map(src.map(({ path, imports }) => [path, new Set(imports)])))).toBeNull();
  });

  it('stores records of its own, and knows no feature', () => {
    const storage = src.filter(({ path }) => path.startsWith('src/storage/'));
    const isFeature = (name: string): boolean =>
      !['storage', 'common', 'config', null].includes(featureOf(name));
    expect(offences(storage, isFeature)).toEqual([]);
  });

  it('chooses its backend in one file, and those of the commands beside it in others', () => {
    const commands = ['backups.ts', 'transfer/transfers.ts', 'transfer/checking.ts'].map(
      (name) => `src/storage/${name}`,
    );
    const choosing = ['src/storage/storage.module.ts', ...commands];
    const inside = (name: string, folder: string): boolean => name.startsWith(`src/storage/${folder}/`);
    for (const backend of ['sqlite', 'mongo']) {
      const others = src.filter(({ path }) => !choosing.includes(path) && !inside(path, backend));
      expect(offences(others, (name) => inside(name, backend))).toEqual([]);
    }
  });

  it('keeps SQL and its driver in their folder', () => {
    const others = src.filter(({ path }) => !path.startsWith('src/storage/sqlite/'));
    expect(offences(others, (name) => name === 'libsql')).toEqual([]);
    const sql = /\b(?:SELECT\s[\s\S]{1,200}?\sFROM|INSERT INTO|DELETE FROM|UPDATE \w+ SET)\b/;
    expect(others.filter(({ text }) => sql.test(text)).map(({ path }) => path)).toEqual([]);
  });

  it('keeps its pure files free of frameworks, stores and sockets', () => {
    const known = new Map(src.map((source) => [source.path, valueImports(source)]));
    expect(PURE.filter((path) => !known.has(path))).toEqual([]);
    const reached = reachable(PURE, (name) => known.get(name));
    const packages = [...reached].filter((name) => !known.has(name));
    expect(packages.filter((name) => !isProtocol(name) && !COMPUTING.includes(name))).toEqual([]);
  });

  it('reads the environment in its configuration alone', () => {
    const readers = src
      .filter(({ text }) => /process\.env|['"]node:process['"]/.test(text))
      .map(({ path }) => path);
    expect(readers.filter((path) => path !== 'src/config/config.ts' && path !== 'src/start.ts')).toEqual([]);
  });

  it('is tested in its folder without a running server, which belongs to test/', () => {
    const specs = specsIn('src');
    expect(specs.length).toBeGreaterThan(10);
    expect(offences(specs, (name) => name.startsWith('test/'))).toEqual([]);
  });

  it('needs no forward references, global modules or barrels', () => {
    expect(src.filter(({ text }) => text.includes('forwardRef')).map(({ path }) => path)).toEqual([]);
    const globals = src.filter(({ text }) => /@Global\(|global: true/.test(text)).map(({ path }) => path);
    expect(
      globals.filter(
        (path) => !/src\/(?:config\/config|common\/logging|storage\/storage)\.module\.ts/.test(path),
      ),
    ).toEqual([]);
    expect(
      src
        .filter(({ path, text }) => /\/index\.ts$/.test(path) || /^export \*/m.test(text))
        .map(({ path }) => path),
    ).toEqual([]);
  });
});
