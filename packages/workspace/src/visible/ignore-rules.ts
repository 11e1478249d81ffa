import { readFileSync, lstatSync } from 'node:fs';
import ignore, { type Ignore } from 'ignore';
import { ignoreHint } from './ignore-hint.js';

/** The rules of one .gitignore file, for paths below its folder. */
interface Level {
  rules: Ignore;
  /** Matches each path that a rule could match. */
  hint: RegExp;
  /** Length of the path prefix of its folder. */
  below: number;
}

/** The .gitignore rules of a folder outside of any repository, as git reads them. Git need not be installed. */
export class IgnoreRules {
  private constructor(private readonly levels: readonly Level[]) {}

  static readonly NONE = new IgnoreRules([]);

  /** Adds the rules of a subfolder. `prefix` is its relative path with a trailing slash, or "". */
  within(prefix: string, gitignore: string): IgnoreRules {
    const rules = readRules(gitignore);
    return rules === null ? this : new IgnoreRules([...this.levels, { ...rules, below: prefix.length }]);
  }

  /** Whether a relative path is ignored; a folder's path ends with a slash. Its parent folder must not be ignored. */
  ignores(path: string): boolean {
    for (let at = this.levels.length - 1; at >= 0; at -= 1) {
      const { rules, hint, below } = this.levels[at]!;
      const here = path.slice(below);
      if (!hint.test(here)) continue;
      const { ignored, unignored } = rules.test(here);
      if (unignored) return false;
      // A folder that deeper rules have re-included is not ignored, and neither are its files.
      if (ignored && !isLeftOut(rules, here.slice(0, here.lastIndexOf('/', here.length - 2) + 1)))
        return true;
    }
    return false;
  }
}

function isLeftOut(rules: Ignore, folder: string): boolean {
  return folder !== '' && rules.ignores(folder);
}

/** Returns the rules of a file; null if there is none. Like git, it does not follow a link. */
function readRules(file: string): Pick<Level, 'rules' | 'hint'> | null {
  try {
    if (!lstatSync(file, { throwIfNoEntry: false })?.isFile()) return null;
    const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
    // Like git's default, case matters only on file systems that are case-sensitive.
    const ignorecase = process.platform !== 'linux';
    return { rules: ignore({ ignorecase }).add(text), hint: ignoreHint(text, { ignorecase }) };
  } catch {
    return null;
  }
}
