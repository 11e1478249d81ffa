import { readFileSync, lstatSync } from 'node:fs';
import ignore, { type Ignore } from 'ignore';
import { ignoreHint } from './ignore-hint.js';

/** The rules of one .gitignore file, for paths below its folder. */
interface Level {
  rules: Ignore;
  /** Every path that a rule matches has this in it. */
  hint: RegExp;
  /** How many characters of a path lead to its folder. */
  below: number;
}

/** The .gitignore files of a folder outside of any repository, read as git would: there git need not be installed. */
export class IgnoreRules {
  private constructor(private readonly levels: readonly Level[]) {}

  static readonly NONE = new IgnoreRules([]);

  /** These rules and those of a folder below; `prefix` is its relative path with a slash at the end, or "". */
  within(prefix: string, gitignore: string): IgnoreRules {
    const rules = readRules(gitignore);
    return rules === null ? this : new IgnoreRules([...this.levels, { ...rules, below: prefix.length }]);
  }

  /** Whether a relative path is left out; a folder's ends with a slash. Its own folder must not be left out. */
  ignores(path: string): boolean {
    for (let at = this.levels.length - 1; at >= 0; at -= 1) {
      const { rules, hint, below } = this.levels[at]!;
      const here = path.slice(below);
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
    if (!lstatSync(file, { throwIfNoEntry: false })?.isFile()) return null;
    const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
    // git looks at case but where the file system does not.
    const ignorecase = process.platform !== 'linux';
    return { rules: ignore({ ignorecase }).add(text), hint: ignoreHint(text, { ignorecase }) };
  } catch {
    return null;
  }
}
