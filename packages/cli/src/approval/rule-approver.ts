import type { Approval } from '@patchbay/protocol';
import picomatch from 'picomatch';
import type { ApprovalRequest, Approver } from '@patchbay/workspace';

/** The server takes no longer name of who decided. */
const MAX_BY = 256;

export interface ApprovalRules {
  /** Allow everything. */
  yes?: boolean;
  /** Allow calls whose paths all match one of these globs. `*` and `**` pass over names that begin with a dot. */
  allow?: readonly string[];
}

/** Decides by rules given beforehand (`--yes`, `--allow <glob>`) and leaves the rest to another approver. */
export class RuleApprover implements Approver {
  private readonly globs: { glob: string; matches: (path: string) => boolean }[];

  constructor(
    private readonly rules: ApprovalRules,
    private readonly otherwise: Approver,
    private readonly onAllowed: (request: ApprovalRequest, rule: string) => void = () => undefined,
  ) {
    this.globs = (rules.allow ?? []).map((glob) => ({ glob, matches: globMatcher(glob) }));
  }

  decide(request: ApprovalRequest, signal: AbortSignal): Promise<Approval> {
    const rule = this.ruleFor(request);
    if (rule === null) return this.otherwise.decide(request, signal);
    this.onAllowed(request, rule);
    return Promise.resolve({ decision: 'allow', by: rule, at: new Date().toISOString() });
  }

  private ruleFor({ files }: ApprovalRequest): string | null {
    if (this.rules.yes) return '--yes';
    const used = new Set<string>();
    for (const { path } of files) {
      const rule = this.globs.find(({ matches }) => matches(path));
      if (!rule) return null;
      used.add(rule.glob);
    }
    return files.length === 0 ? null : `--allow ${[...used].join(' ')}`.slice(0, MAX_BY);
  }
}

/** Matches paths relative to the root, with forward slashes. A leading `!` has no meaning of its own. */
export function globMatcher(glob: string): (path: string) => boolean {
  if (glob.trim() === '') throw new TypeError('A glob must not be empty.');
  return picomatch(glob.replace(/^\.\//, ''), { nonegate: true });
}
