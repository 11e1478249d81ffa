import { createInterface, type Interface } from 'node:readline/promises';
import { styleText } from 'node:util';
import type { Approval } from '@patchbay/protocol';
import { deniedByClient, MAX_NOTE } from '@patchbay/client/relay';
import { rejectionOf, type FileProposal, type Question } from '@patchbay/workspace';
import { chooseChanges } from './choose-changes.js';
import { editText } from './edit-text.js';
import { previewOf } from './preview.js';
import { printable, printableLine } from './printable.js';
import { type Asker, globMatcher } from './rule-approver.js';

/** Lines of a preview that are shown at once; the rest on demand. */
const PREVIEW_LINES = 60;
const GONE = 'The terminal was closed before anyone decided.';

export interface TerminalApproverOptions {
  /** Who answers: goes into the audit trail. */
  by: string;
  input?: NodeJS.ReadableStream;
  output?: NodeJS.WritableStream;
}

/** What stands to be decided; an edit replaces it. */
interface Draft {
  files: FileProposal[];
  editedArguments: Approval['editedArguments'];
}

type Verdict = Pick<Approval, 'decision' | 'rejectedChangeIds'> & { note?: string };
/** Asks whatever it must; null asks for the decision again. */
type Choice = (draft: Draft, request: Question, signal: AbortSignal) => Promise<Verdict | null>;

/** The person can't be asked any more. */
class TerminalGone extends Error {}

/** Asks a person at a terminal, one call at a time, in the order in which the calls came. */
export class TerminalApprover implements Asker {
  private readonly input: NodeJS.ReadableStream;
  private readonly output: NodeJS.WritableStream;
  private reader: Interface | null = null;
  private queue: Promise<unknown> = Promise.resolve();
  /** What "always" stands for so far: true for a call that was allowed beforehand. */
  private readonly always: ((request: Question) => boolean)[] = [];

  private readonly choices = new Map<string, Choice>([
    ...named(['y', 'yes', 'allow'], async () => ({ decision: 'allow' })),
    ...named(['s', 'select'], (draft, _request, signal) => this.select(draft, signal)),
    ...named(['a', 'always'], (_draft, request) => this.alwaysTool(request)),
    ...named(['g', 'glob'], (draft, request, signal) => this.alwaysGlob(draft, request, signal)),
    ...named(['e', 'edit'], (draft, request, signal) => this.edit(draft, request, signal)),
    ...named(['v', 'view'], (draft) => this.viewAll(draft)),
    ...named(['n', 'no', 'deny'], (_draft, _request, signal) => this.deny(signal)),
  ]);

  constructor(private readonly options: TerminalApproverOptions) {
    this.input = options.input ?? process.stdin;
    this.output = options.output ?? process.stdout;
  }

  decide(request: Question, signal: AbortSignal): Promise<Approval> {
    const mine = this.queue.then(() => this.ask(request, signal));
    this.queue = mine.catch(() => undefined);
    // A call that ends while it stands in the queue must not wait for the questions before it.
    return Promise.race([mine, rejectionOf(signal)]);
  }

  /** Prints a line of something else, without tearing the question that stands open. */
  interject(print: () => void): void {
    if (!this.reader) return print();
    this.output.write('\r\u001b[K');
    print();
    this.reader.prompt(true);
  }

  private async ask(request: Question, signal: AbortSignal): Promise<Approval> {
    signal.throwIfAborted();
    if (this.always.some((covers) => covers(request))) return this.approval({ decision: 'allow_always' });
    const draft: Draft = { files: request.files, editedArguments: null };
    try {
      this.show(request, draft, PREVIEW_LINES);
      for (;;) {
        const answer = (await this.question(this.prompt(request), signal)).trim().toLowerCase();
        const verdict = await this.choices.get(answer)?.(draft, request, signal);
        if (verdict) return this.approval(verdict, draft.editedArguments);
        if (verdict === undefined) this.print('Please answer with one of the letters.');
      }
    } catch (error) {
      if (error instanceof TerminalGone) return deniedByClient(GONE);
      if (signal.aborted) this.print(this.paint('yellow', `\n${reasonOf(signal)} Nothing is written.`));
      throw error;
    }
  }

  private async select({ files }: Draft, signal: AbortSignal): Promise<Verdict | null> {
    const ids = files.flatMap(({ patch }) => patch?.changes.map(({ changeId }) => changeId) ?? []);
    if (ids.length === 0) {
      this.print('This call has no single changes to choose from.');
      return null;
    }
    const rejectedChangeIds = await chooseChanges(files, {
      output: this.output,
      ask: (question) => this.question(question, signal),
      print: (text) => this.print(text),
    });
    if (rejectedChangeIds.length === ids.length) return this.deny(signal);
    this.print(`${ids.length - rejectedChangeIds.length} of ${ids.length} changes accepted.`);
    return { decision: 'allow', ...(rejectedChangeIds.length > 0 && { rejectedChangeIds }) };
  }

  private async alwaysTool({ call }: Question): Promise<Verdict> {
    this.always.push((other) => other.call.sessionId === call.sessionId && other.call.name === call.name);
    return { decision: 'allow_always', note: `${call.name} in this session` };
  }

  private async alwaysGlob(draft: Draft, { call }: Question, signal: AbortSignal): Promise<Verdict | null> {
    const suggested = folderGlob(draft.files);
    const glob = (await this.question(`Glob [${printableLine(suggested)}]: `, signal)).trim() || suggested;
    const matches = globMatcher(glob);
    const covers = (files: FileProposal[]) => files.every(({ path }) => matches(path));
    if (!covers(draft.files)) {
      this.print('That glob does not match this call.');
      return null;
    }
    this.always.push((other) => other.call.sessionId === call.sessionId && covers(other.files));
    return { decision: 'allow_always', note: `${glob} in this session` };
  }

  private async edit(draft: Draft, request: Question, signal: AbortSignal): Promise<null> {
    const [file] = draft.files;
    if (!request.edit || !file) {
      this.print('This call cannot be edited.');
      return null;
    }
    try {
      const text = await editText(file.path, file.after, signal);
      if (text !== file.after) Object.assign(draft, request.edit(text));
    } catch (error) {
      signal.throwIfAborted();
      this.print(this.paint('red', printable(error instanceof Error ? error.message : String(error))));
      return null;
    }
    this.show(request, draft, PREVIEW_LINES);
    return null;
  }

  private async viewAll(draft: Draft): Promise<null> {
    for (const file of draft.files) this.print(previewOf(file, this.output).lines.join('\n'));
    return null;
  }

  private async deny(signal: AbortSignal): Promise<Verdict> {
    const note = (await this.question('Why, for the model (Enter: no note): ', signal)).trim();
    return { decision: 'deny', ...(note && { note: note.slice(0, MAX_NOTE) }) };
  }

  private show({ call }: Question, draft: Draft, limit: number): void {
    this.print(`\n${this.paint('cyan', printableLine(call.name))} wants to`);
    for (const file of draft.files) {
      const { title, lines } = previewOf(file, this.output);
      this.print(`${title}${draft.editedArguments ? ', edited by you' : ''}`);
      if (lines.length > 0) this.print(lines.slice(0, limit).join('\n'));
      const hidden = lines.length - limit;
      if (hidden > 0) this.print(this.paint('yellow', `… ${hidden} more lines; v shows all`));
    }
  }

  private prompt(request: Question): string {
    const edit = request.edit ? '[e]dit  ' : '';
    const select = request.files.some(({ patch }) => patch) ? '[s]elect changes  ' : '';
    return `[y]es  ${select}[a]lways this tool  always this [g]lob  ${edit}[v]iew all  [n]o > `;
  }

  /** Asked again after a Ctrl-D; throws TerminalGone where that was the end of the input. */
  private async question(text: string, signal: AbortSignal): Promise<string> {
    for (;;) {
      if (!this.input.readable) throw new TerminalGone(GONE);
      const answer = await this.answer(text, signal);
      if (answer !== null) return answer;
      this.print('');
      if (!('isTTY' in this.input && this.input.isTTY)) throw new TerminalGone(GONE);
    }
  }

  /** Null for an end of input. The reader lives for one question: what was typed before it was asked answers nothing. */
  private async answer(text: string, signal: AbortSignal): Promise<string | null> {
    const reader = createInterface({ input: this.input, output: this.output });
    this.reader = reader;
    reader.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    const ended = new Promise<null>((resolve) => reader.once('close', () => resolve(null)));
    try {
      return await Promise.race([reader.question(text, { signal }), ended]);
    } catch {
      // Later versions of Node reject the question instead of leaving it open.
      signal.throwIfAborted();
      return null;
    } finally {
      this.reader = null;
      reader.close();
    }
  }

  private approval(verdict: Verdict, editedArguments: Approval['editedArguments'] = null): Approval {
    const decided = { ...verdict, by: this.options.by, at: new Date().toISOString() };
    if (!editedArguments || verdict.decision === 'deny') return decided;
    return { ...decided, decision: 'edit', editedArguments };
  }

  private paint(colour: Parameters<typeof styleText>[0], text: string): string {
    return styleText(colour, text, { stream: this.output });
  }

  private print(text: string): void {
    this.output.write(`${text}\n`);
  }
}

function named(names: readonly string[], choice: Choice): [string, Choice][] {
  return names.map((name) => [name, choice]);
}

/** `src/orders/**` for one file there; `**` for files that share no folder. */
function folderGlob(files: FileProposal[]): string {
  const folders = new Set(files.map(({ path }) => path.split('/').slice(0, -1).join('/')));
  const [folder] = folders;
  return folders.size === 1 && folder ? `${folder}/**` : '**';
}

function reasonOf({ reason }: AbortSignal): string {
  return reason instanceof Error && reason.message ? printableLine(reason.message) : 'The call has ended.';
}
