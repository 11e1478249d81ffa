import { type Approval, cutText } from '@patchbay/protocol';
import { deniedByClient, MAX_NOTE } from '@patchbay/client/relay';
import { rejectionOf, type FileProposal, type Question } from '@patchbay/workspace';
import { chooseChanges } from './choose-changes.js';
import { Dialogue, type DialogueOptions, TerminalGone } from './dialogue.js';
import type { Draft } from './draft.js';
import { editDraft } from './edit-draft.js';
import { askKey, type MenuItem, UNKNOWN } from './menu.js';
import { fittedQuestion, summaryOf, fullQuestion } from './question-text.js';
import type { ChangeApprover, OnAllowed } from './rule-approver.js';
import { ruleName, type RuleStore, ProcessRules } from './session-rules.js';
import { askForGlobRule, askForToolRule } from './ask-for-rule.js';

const GONE = 'The terminal was closed before anyone decided.';
const BACK = 'Ctrl-D: back';

export interface TerminalApproverOptions extends DialogueOptions {
  /** The name of the approver in the audit trail. */
  by: string;
  /** Stores "always" rules; by default they end with this approver. */
  rules?: RuleStore;
  /** Called for each call that an earlier answer allows. */
  onAllowed?: OnAllowed;
  /** Called with each decision and the files as the person edited them. */
  onDecided?: (question: Question, files: readonly FileProposal[], approval: Approval) => void;
}

type Verdict = Pick<Approval, 'decision' | 'rejectedChangeIds'> & { note?: string };

/** A key of the question. Its action may ask more questions; null repeats the question. */
interface Key extends MenuItem {
  isFor?: (question: Question) => boolean;
  does: (draft: Draft, question: Question, signal: AbortSignal) => Verdict | null | Promise<Verdict | null>;
}

/** Asks a person at a terminal, one call at a time, in order of arrival. */
export class TerminalApprover implements ChangeApprover {
  readonly dialogue: Dialogue;
  private queue: Promise<unknown> = Promise.resolve();
  private readonly open = new Set<Question>();
  private readonly ofRun = new ProcessRules();

  private readonly keys: readonly Key[] = [
    { word: 'yes', also: ['allow'], meaning: 'allow it as shown', does: () => ({ decision: 'allow' }) },
    {
      ...{ word: 'no', also: ['deny'], meaning: 'deny it; a note for the model is optional' },
      does: (_draft, _question, signal) => this.deny(signal),
    },
    {
      ...{ word: 'select', meaning: 'accept or reject single files and changes' },
      isFor: ({ files }) => files.some(({ patch }) => patch),
      does: (draft, _question, signal) => this.select(draft, signal),
    },
    {
      ...{ word: 'edit', meaning: 'change the resulting file first, in $VISUAL or $EDITOR' },
      isFor: ({ edit }) => edit !== undefined,
      does: (draft, question, signal) => editDraft(draft, question, this.dialogue, this.options.env, signal),
    },
    {
      ...{ word: 'view', meaning: 'show all of it, in $PAGER or less' },
      does: (draft, question, signal) => this.viewAll(draft, question, signal),
    },
    {
      ...{ word: 'always', meaning: 'allow all calls of this tool in this session; shows the rule first' },
      does: (_draft, question, signal) =>
        this.always(question, askForToolRule(question, this.dialogue, signal)),
    },
    {
      ...{ word: 'glob', meaning: 'allow calls that match a glob in this session; shows the rule first' },
      isFor: ({ files }) => files.length > 0,
      does: ({ files }, question, signal) =>
        this.always(question, askForGlobRule({ ...question, files: [...files] }, this.dialogue, signal)),
    },
  ];

  constructor(private readonly options: TerminalApproverOptions) {
    this.dialogue = new Dialogue(options);
  }

  /** Unanswered questions, the open one first. */
  get waiting(): readonly Question[] {
    return [...this.open];
  }

  decide(question: Question, signal: AbortSignal): Promise<Approval> {
    this.open.add(question);
    // Removed before the next question is asked, so that its count excludes this call.
    const mine = this.queue.then(() => this.ask(question, signal)).finally(() => this.open.delete(question));
    this.queue = mine.catch(() => undefined);
    // A call that ends in the queue must not wait for the questions before it.
    return Promise.race([mine, rejectionOf(signal)]).finally(() => this.open.delete(question));
  }

  private async ask(question: Question, signal: AbortSignal): Promise<Approval> {
    signal.throwIfAborted();
    const rule = await this.rulesFor(question).allowing(question);
    if (rule) {
      this.options.onAllowed?.(question, ruleName(rule));
      return this.approval({ decision: 'allow_always' });
    }
    const draft: Draft = {
      ...{ files: question.files, editedArguments: null, undone: [], unfinished: new Map<number, string>() },
    };
    try {
      const verdict = await this.verdictOn(draft, question, signal);
      const approval = this.approval(verdict, draft);
      this.options.onDecided?.(question, draft.files, approval);
      return approval;
    } catch (error) {
      if (error instanceof TerminalGone) return deniedByClient(GONE);
      throw error;
    }
  }

  private async verdictOn(draft: Draft, question: Question, signal: AbortSignal): Promise<Verdict> {
    const keys = this.keys.filter(({ isFor }) => isFor?.(question) ?? true);
    let shown = '';
    const show = () => {
      const { layout } = this.dialogue;
      const text = fittedQuestion(this.asked(draft, question), layout).join('\n');
      if (text !== shown) this.dialogue.print(text);
      shown = text;
    };
    const summarize = () => this.dialogue.print(summaryOf(this.asked(draft, question), this.dialogue.layout));
    const showAgain = () => (show(), summarize());
    for (let files: readonly FileProposal[] = []; ;) {
      if (draft.files !== files) show();
      files = draft.files;
      summarize();
      const key = await askKey(keys, this.dialogue, signal, { again: summarize, onResize: showAgain });
      const verdict = await key?.does(draft, question, signal);
      if (verdict) return verdict;
      if (!key) this.dialogue.say(UNKNOWN);
    }
  }

  private asked({ files, editedArguments }: Draft, question: Question) {
    return { question, files, isEdited: Boolean(editedArguments), waiting: this.open.size - 1 };
  }

  private async select({ files }: Draft, signal: AbortSignal): Promise<Verdict | null> {
    const ids = files.flatMap(({ patch }) => patch?.changes.map(({ changeId }) => changeId) ?? []);
    const rejectedChangeIds = await chooseChanges(files, this.dialogue, signal);
    if (rejectedChangeIds === null) return null;
    if (rejectedChangeIds.length === ids.length) return this.deny(signal);
    this.dialogue.say(`${ids.length - rejectedChangeIds.length} of ${ids.length} changes accepted.`);
    return { decision: 'allow', ...(rejectedChangeIds.length > 0 && { rejectedChangeIds }) };
  }

  private async always(
    question: Question,
    taken: ReturnType<typeof askForToolRule>,
  ): Promise<Verdict | null> {
    const rule = await taken;
    if (!rule) return null;
    await this.rulesFor(question).add(rule, this.options.by);
    return { decision: 'allow_always', note: ruleName(rule).slice(0, MAX_NOTE) };
  }

  /** Without a session, as for an offered change of the Cloud, a rule lasts for this run. */
  private rulesFor({ call }: Question): RuleStore {
    return call.sessionId === '' ? this.ofRun : (this.options.rules ?? this.ofRun);
  }

  private async viewAll(draft: Draft, question: Question, signal: AbortSignal): Promise<null> {
    const { dialogue } = this;
    await dialogue.showAll(fullQuestion(this.asked(draft, question), dialogue.layout), signal);
    return null;
  }

  private async deny(signal: AbortSignal): Promise<Verdict | null> {
    const note = await this.dialogue.ask(`Why, for the model (Enter: no note, ${BACK}): `, signal);
    if (note === null) return null;
    return { decision: 'deny', ...(note.trim() && { note: cutText(note.trim(), MAX_NOTE) }) };
  }

  private approval(verdict: Verdict, draft?: Draft): Approval {
    const decided = { ...verdict, by: this.options.by, at: new Date().toISOString() };
    if (!draft?.editedArguments || verdict.decision === 'deny') return decided;
    const rejectedChangeIds = [...draft.undone, ...(verdict.rejectedChangeIds ?? [])];
    return {
      ...decided,
      decision: 'edit',
      editedArguments: draft.editedArguments,
      ...(rejectedChangeIds.length > 0 && { rejectedChangeIds }),
    };
  }
}
