import { type Approval, cutText } from '@patchbay/protocol';
import { type Approver, isIgnoreFile, type Question, WaitingApprover } from '@patchbay/workspace';
import { globMatcher } from './glob.js';
import { ruleName, type RuleStore } from './session-rules.js';

/** Limit of the server for the name of an approver. */
const MAX_BY = 256;

/** Decides about calls, and about other changes of a folder. */
export interface ChangeApprover extends Approver {
  decide(question: Question, signal: AbortSignal): Promise<Approval>;
}

/** Called for each call that a rule allows, with the name of the rule. */
export type OnAllowed = (question: Question, rule: string) => void;

export interface ApprovalRules {
  /** Allow everything except changes of a `.gitignore`, which decides which files are sent. */
  yes?: boolean;
  /** Allow calls whose paths all match one of these globs. `*` and `**` skip names that begin with a dot. */
  allow?: readonly string[];
  /** Name of the root if there is only one: globs may omit it, as paths may. */
  onlyRoot?: () => string | null;
}

/** Decides by rules given beforehand (`--yes`, `--allow <glob>`) and leaves the rest to another approver. */
export class RuleApprover implements ChangeApprover {
  private readonly globs: { glob: string; matches: (path: string) => boolean }[];

  constructor(
    private readonly rules: ApprovalRules,
    private readonly otherwise: ChangeApprover,
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
    if (this.rules.yes && !files.some(({ path }) => isIgnoreFile(path))) return '--yes';
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

/** Used without a terminal: allows what a person has allowed in the session before; everything else waits. */
export class SessionRuleApprover implements ChangeApprover {
  private readonly waiting = new WaitingApprover();

  constructor(
    private readonly rules: RuleStore,
    private readonly by: string,
    private readonly onAllowed: OnAllowed,
  ) {}

  async decide(question: Question, signal: AbortSignal): Promise<Approval> {
    const rule = await this.rules.allowing(question);
    if (!rule) return this.waiting.decide(question, signal);
    this.onAllowed(question, ruleName(rule));
    return { decision: 'allow_always', by: this.by, at: new Date().toISOString() };
  }
}
