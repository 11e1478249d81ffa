import { type Approval, cutText } from '@patchbay/protocol';
import picomatch from 'picomatch';
import type { Approver, Question } from '@patchbay/workspace';

/** The server takes no longer name of who decided. */
const MAX_BY = 256;

/** Decides about whatever is asked: calls, and what else could change a folder. */
export interface Asker extends Approver {
  decide(question: Question, signal: AbortSignal): Promise<Approval>;
}

/** Told of a call that a rule lets through, and which one. */
export type OnAllowed = (question: Question, rule: string) => void;

export interface ApprovalRules {
  /** Allow everything. */
  yes?: boolean;
  /** Allow calls whose paths all match one of these globs. `*` and `**` pass over names that begin with a dot. */
  allow?: readonly string[];
  /** Name of the root where there is one only: a glob may then leave it out, as a path may. */
  onlyRoot?: () => string | null;
}

/** Decides by rules given beforehand (`--yes`, `--allow <glob>`) and leaves the rest to another approver. */
export class RuleApprover implements Asker {
  private readonly globs: { glob: string; matches: (path: string) => boolean }[];

  constructor(
    private readonly rules: ApprovalRules,
    private readonly otherwise: Asker,
    private readonly onAllowed: OnAllowed = () => undefined,
  ) {
    this.globs = (rules.allow ?? []).map((glob) => ({ glob, matches: globMatcher(glob) }));
  }

  decide(request: Question, signal: AbortSignal): Promise<Approval> {
    const rule = this.ruleFor(request);
    if (rule === null) return this.otherwise.decide(request, signal);
    this.onAllowed(request, rule);
    return Promise.resolve({ decision: 'allow', by: rule, at: new Date().toISOString() });
  }

  private ruleFor({ files }: Question): string | null {
    if (this.rules.yes) return '--yes';
    const used = new Set<string>();
    for (const { path } of files) {
      const names = [path, ...this.belowRoot(path)];
      const rule = this.globs.find(({ matches }) => names.some((name) => matches(name)));
      if (!rule) return null;
      used.add(rule.glob);
    }
    return files.length === 0 ? null : cutText(`--allow ${[...used].join(' ')}`, MAX_BY);
  }

  private belowRoot(path: string): string[] {
    const prefix = `${this.rules.onlyRoot?.() ?? ''}/`;
    return prefix !== '/' && path.startsWith(prefix) ? [path.slice(prefix.length)] : [];
  }
}

/** Matches paths with forward slashes. A leading `!` has no meaning of its own. */
export function globMatcher(glob: string): (path: string) => boolean {
  if (glob.trim() === '') throw new TypeError('A glob must not be empty.');
  return picomatch(glob.replace(/^\.\//, ''), { nonegate: true });
}
