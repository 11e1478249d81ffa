import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from './support/sources.js';

/** Source files of the entries that `exports` of a package names. */
function entriesOf(name: string): string[] {
  const manifest = readFileSync(join(ROOT, `packages/${name}/package.json`), 'utf8');
  const { exports } = JSON.parse(manifest) as { exports: Record<string, { types: string }> };
  return Object.values(exports).map(({ types }) =>
    join(ROOT, 'packages', name, types.replace('./dist/', 'src/').replace('.d.ts', '.ts')),
  );
}

describe('The packages', () => {
  it('say of every public name what it is', () => {
    const entries = ['protocol', 'client', 'workspace'].flatMap(entriesOf);
    const read = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path));
    const { options } = ts.parseJsonConfigFileContent(read.config, ts.sys, ROOT);
    const program = ts.createProgram(entries, options);
    const checker = program.getTypeChecker();
    const named = entries.flatMap((entry) => {
      const symbol = checker.getSymbolAtLocation(program.getSourceFile(entry)!)!;
      return checker.getExportsOfModule(symbol);
    });
    expect(named.length).toBeGreaterThan(200);
    const silent = named
      .map((one) => (one.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(one) : one))
      .filter((one) => one.getDocumentationComment(checker).length === 0);
    expect([...new Set(silent.map(({ name }) => name))]).toEqual([]);
  });
});
