import { type Approval, cutText } from '@patchbay/protocol';
import { deniedByClient, MAX_NOTE } from '@patchbay/client/relay';
import { rejectionOf, type FileProposal, type Question } from '@patchbay/workspace';
import { chooseChanges } from './choose-changes.js';
import { Dialogue, type DialogueOptions, TerminalGone } from './dialogue.js';
import type { Draft } from './draft.js';
import { editDraft } from './edit-draft.js';
import { chosen, menuHelp, menuPrompt, type MenuItem } from './menu.js';
import { showInPager } from './pager.js';
import { fittedQuestion, summaryOf, wholeQuestion } from './question-text.js';
import { printableLine } from './printable.js';
import { type Asker, globMatcher, type OnAllowed } from './rule-approver.js';

const GONE = 'The terminal was closed before anyone decided.';
const BACK = 'Ctrl-D: back';

export interface TerminalApproverOptions extends DialogueOptions {
  /** Who answers: goes into the audit trail. */
  by: string;
  /** Told of each call that an answer of before lets through. */
  onAllowed?: OnAllowed;
  /** Told what a person has decided about, as they have edited it. */
  onDecided?: (question: Question, files: readonly FileProposal[], approval: Approval) => void;
}

type Verdict = Pick<Approval, 'decision' | 'rejectedChangeIds'> & { note?: string };

/** A key of the question; what it does may ask further, and null asks for the decision again. */
interface Key extends MenuItem {
  isFor?: (question: Question) => boolean;
  does: (draft: Draft, question: Question, signal: AbortSignal) => Verdict | null | Promise<Verdict | null>;
}

/** Asks a person at a terminal, one call at a time, in the order in which the calls came. */
export class TerminalApprover implements Asker {
  readonly dialogue: Dialogue;
  private queue: Promise<unknown> = Promise.resolve();
  private readonly open = new Set<Question>();
  /** What "always" stands for so far, and how it was said: covers a call that was allowed beforehand. */
  private readonly always: { rule: string; covers: (question: Question) => boolean }[] = [];

  private readonly keys: readonly Key[] = [
    { word: 'yes', also: ['allow'], meaning: 'do it as it is shown', does: () => ({ decision: 'allow' }) },
    {
      ...{ word: 'no', also: ['deny'], meaning: 'refuse it; you may tell the model why' },
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
      ...{ word: 'always', meaning: 'allow this tool for the rest of the session' },
      does: (_draft, question) => this.alwaysTool(question),
    },
    {
      ...{ word: 'glob', meaning: 'allow what is below a path for the rest of the session' },
      does: (draft, question, signal) => this.alwaysGlob(draft, question, signal),
    },
  ];

  constructor(private readonly options: TerminalApproverOptions) {
    this.dialogue = new Dialogue(options);
  }

  /** What has been asked and is not answered, the open question first. */
  get waiting(): readonly Question[] {
    return [...this.open];
  }

  decide(question: Question, signal: AbortSignal): Promise<Approval> {
    this.open.add(question);
    const mine = this.queue.then(() => this.ask(question, signal));
    this.queue = mine.catch(() => undefined);
    // A call that ends while it stands in the queue must not wait for the questions before it.
    return Promise.race([mine, rejectionOf(signal)]).finally(() => this.open.delete(question));
  }

  private async ask(question: Question, signal: AbortSignal): Promise<Approval> {
    signal.throwIfAborted();
    const rule = this.always.find(({ covers }) => covers(question))?.rule;
    if (rule !== undefined) {
      this.options.onAllowed?.(question, rule);
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
      const { paper } = this.dialogue;
      const text = fittedQuestion(this.asked(draft, question), paper).join('\n');
      if (text !== shown) this.dialogue.print(text);
      shown = text;
    };
    const summarize = () => this.dialogue.print(summaryOf(this.asked(draft, question), this.dialogue.paper));
    const showAgain = () => (show(), summarize());
    for (let files: readonly FileProposal[] = []; ;) {
      if (draft.files !== files) show();
      files = draft.files;
      summarize();
      const menu = () => menuPrompt(keys, this.dialogue.paper);
      const answer = await this.dialogue.ask(menu, signal, showAgain);
      const key = answer === null ? null : chosen(keys, answer);
      const verdict = await key?.does(draft, question, signal);
      if (verdict) return verdict;
      if (!key) this.explain(answer, keys);
    }
  }

  private explain(answer: string | null, keys: readonly Key[]): void {
    if (answer?.trim() === '?') return this.dialogue.print(menuHelp(keys).join('\n'));
    this.dialogue.print('Please answer with one of the letters; ? explains them, n refuses, Ctrl-C leaves.');
  }

  private asked({ files, editedArguments }: Draft, question: Question) {
    return { question, files, isEdited: Boolean(editedArguments), waiting: this.open.size - 1 };
  }

  private async select({ files }: Draft, signal: AbortSignal): Promise<Verdict | null> {
    const ids = files.flatMap(({ patch }) => patch?.changes.map(({ changeId }) => changeId) ?? []);
    const rejectedChangeIds = await chooseChanges(files, this.dialogue, signal);
    if (rejectedChangeIds === null) return null;
    if (rejectedChangeIds.length === ids.length) return this.deny(signal);
    this.dialogue.print(`${ids.length - rejectedChangeIds.length} of ${ids.length} changes accepted.`);
    return { decision: 'allow', ...(rejectedChangeIds.length > 0 && { rejectedChangeIds }) };
  }

  private alwaysTool({ call }: Question): Verdict {
    const rule = `${call.name} in this session`;
    const covers = (other: Question) =>
      other.call.sessionId === call.sessionId && other.call.name === call.name;
    this.always.push({ rule, covers });
    return { decision: 'allow_always', note: rule };
  }

  private async alwaysGlob(draft: Draft, { call }: Question, signal: AbortSignal): Promise<Verdict | null> {
    const suggested = folderGlob(draft.files);
    const answer = await this.dialogue.ask(`Glob [${printableLine(suggested)}] (${BACK}): `, signal);
    if (answer === null) return null;
    const glob = answer.trim() || suggested;
    const matches = matcherOf(glob);
    const covers = (files: readonly FileProposal[]) => files.every(({ path }) => matches(path));
    if (!covers(draft.files)) {
      this.dialogue.print('That glob does not match this call.');
      return null;
    }
    const rule = `${glob} in this session`;
    this.always.push({
      rule,
      covers: (other) => other.call.sessionId === call.sessionId && covers(other.files),
    });
    return { decision: 'allow_always', note: rule };
  }

  private async viewAll(draft: Draft, question: Question, signal: AbortSignal): Promise<null> {
    const { dialogue } = this;
    const text = `${wholeQuestion(this.asked(draft, question), dialogue.paper).join('\n')}\n`;
    const hasPager = dialogue.isTerminal
      ? await dialogue.leaveTo(() => showInPager(text, this.options.env, signal))
      : false;
    if (!hasPager) dialogue.print(text.trimEnd());
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

/** What a person types may be no glob: then it matches nothing. */
function matcherOf(glob: string): (path: string) => boolean {
  try {
    return globMatcher(glob);
  } catch {
    return () => false;
  }
}

/** `src/orders/**` for one file there; `**` for files that share no folder. */
function folderGlob(files: readonly FileProposal[]): string {
  const folders = new Set(files.map(({ path }) => path.split('/').slice(0, -1).join('/')));
  const [folder] = folders;
  return folders.size === 1 && folder ? `${folder}/**` : '**';
}
