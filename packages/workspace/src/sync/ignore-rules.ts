import { readFileSync, lstatSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { ignoreHint } from './ignore-hint.js';

/** The rules of one file, and how a path below the scanned folder reads where that file is. */
interface Level {
  rules: Ignore;
  /** Every path that a rule matches has this in it. */
  hint: RegExp;
  /** What the path has in front there, for a folder above the scanned one. */
  above: string;
  /** How many characters of the path lead to there, for a folder below it. */
  below: number;
}

/** What git leaves out below a folder: the .gitignore files of the folder, of those in it and of those above it. */
export class IgnoreRules {
  private constructor(private readonly levels: readonly Level[]) {}

  static readonly NONE = new IgnoreRules([]);

  /**
   * The rules that hold at a folder because of where it lies: those of its repository above it. A folder that they
   * leave out as a whole is taken for meant all the same.
   */
  static above(directory: string): IgnoreRules {
    const levels: Level[] = [];
    for (let folder = directory; ; folder = dirname(folder)) {
      const top = exists(join(folder, '.git'));
      const above = relative(folder, directory).split(sep).join('/');
      const files = [
        ...(top ? [join(folder, '.git', 'info', 'exclude')] : []),
        ...(folder === directory ? [] : [join(folder, '.gitignore')]),
      ];
      for (const file of files) {
        const rules = readRules(file);
        if (rules !== null) levels.unshift({ ...rules, above: above === '' ? '' : `${above}/`, below: 0 });
      }
      if (top) break;
      if (dirname(folder) === folder) return IgnoreRules.NONE;
    }
    const leavesOutAll = levels.some(({ rules, above }) => above !== '' && rules.ignores(above));
    return leavesOutAll ? IgnoreRules.NONE : new IgnoreRules(levels);
  }

  /** These rules and those of a folder below; `prefix` is its relative path with a slash at the end, or "". */
  within(prefix: string, gitignore: string): IgnoreRules {
    const rules = readRules(gitignore);
    if (rules === null) return this;
    return new IgnoreRules([...this.levels, { ...rules, above: '', below: prefix.length }]);
  }

  /** Whether a relative path is left out; a folder's ends with a slash. Its own folder must not be left out. */
  ignores(path: string): boolean {
    for (let at = this.levels.length - 1; at >= 0; at -= 1) {
      const { rules, hint, above, below } = this.levels[at]!;
      const here = above + path.slice(below);
      if (!hint.test(here)) continue;
      const { ignored, unignored } = rules.test(here);
      if (unignored) return false;
      // A folder that deeper rules have taken back in is left out no more, nor is what lies in it.
      if (ignored && !isLeftOut(rules, here.slice(0, here.lastIndexOf('/', here.length - 2) + 1)))
        return true;
    }
    return false;
  }
}

function isLeftOut(rules: Ignore, folder: string): boolean {
  return folder !== '' && rules.ignores(folder);
}

/** The rules of a file; null where there is none. As git does it, a link is not followed. */
function readRules(file: string): Pick<Level, 'rules' | 'hint'> | null {
  try {
    if (!lstatSync(file).isFile()) return null;
    const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
    // git looks at case but where the file system does not.
    const ignorecase = process.platform !== 'linux';
    return { rules: ignore({ ignorecase }).add(text), hint: ignoreHint(text, { ignorecase }) };
  } catch {
    return null;
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
