import type { Question } from '@patchbay/workspace';
import type { Dialogue } from './dialogue.js';
import type { Draft } from './draft.js';
import { editorOf, editText } from './edit-text.js';
import { printableLine } from './printable.js';

/**
 * Opens a file of the draft in the person's editor and updates the draft; the question is then asked again. A
 * rejected edit is explained, and offered again at the next edit of that file.
 * @returns null: an edit decides nothing
 */
export async function editDraft(
  draft: Draft,
  { edit }: Question,
  person: Dialogue,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<null> {
  const at = await chooseFile(draft, person, signal);
  const file = at === null ? undefined : draft.files[at];
  if (at === null || !file || !edit) return null;
  try {
    person.say(`Waiting for your editor, ${printableLine(editorOf(env))}.`);
    const before = draft.unfinished.get(at) ?? file.after;
    const text = await person.leaveTo(() => editText(file.path, before, env, signal));
    if (text === file.after) {
      person.say('Nothing was changed.');
      return null;
    }
    draft.unfinished.set(at, text);
    const texts = draft.files.map(({ after }, other) => (other === at ? text : after));
    const { files, editedArguments, rejectedChangeIds = [] } = edit(texts);
    draft.unfinished.delete(at);
    if (files[at]?.after !== text) person.say('Line endings and similar details were set by the tool.');
    Object.assign(draft, { files, editedArguments, undone: rejectedChangeIds });
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    person.say(person.paint('red', printableLine(reason)));
  }
  return null;
}

/** Asks which of several files; null to go back. */
async function chooseFile({ files }: Draft, person: Dialogue, signal: AbortSignal): Promise<number | null> {
  if (files.length === 1) return 0;
  for (const [at, { path }] of files.entries()) person.say(`  ${at + 1}  ${printableLine(path)}`);
  for (;;) {
    const answer = await person.ask(`Which file (1-${files.length}, Ctrl-D: back): `, signal);
    if (answer === null) return null;
    const at = Number(answer.trim()) - 1;
    if (/^\s*\d+\s*$/.test(answer) && files[at]) return at;
    person.say(`Please type a number from 1 to ${files.length}.`);
  }
}
