import type { PatchChange } from '@patchbay/protocol';
import type { FileProposal } from '@patchbay/workspace';
import type { Dialogue } from './dialogue.js';
import { hiddenText, linesThatFit, wrapFor } from './fit.js';
import { askKey, type MenuItem } from './menu.js';
import { changePreview, paintDiffLine, type Preview, previewOf } from './preview.js';

/** Rows kept free for the title and the keys. */
const ASKED_ROWS = 5;

const ALL: MenuItem = { word: 'yes', also: ['all'], meaning: 'accept every change of this file' };
const NONE: MenuItem = { word: 'no', also: ['none'], meaning: 'reject every change of this file' };
const SELECT: MenuItem = { word: 'select', meaning: 'accept or reject its changes one by one' };
const YES: MenuItem = { word: 'yes', meaning: 'accept this change' };
const NO: MenuItem = { word: 'no', meaning: 'reject this change' };
const VIEW: MenuItem = { word: 'view', meaning: 'show all of it, in $PAGER or less' };
const BACK: MenuItem = { word: 'back', meaning: 'return to the whole call and drop this selection' };

/** The person goes back to the previous question. */
class GoBack extends Error {}

/**
 * Lets a person accept or reject the files and changes of a patch.
 * @returns the ids of the rejected changes; null if the person went back
 */
export async function chooseChanges(
  files: readonly FileProposal[],
  person: Dialogue,
  signal: AbortSignal,
): Promise<string[] | null> {
  try {
    return await rejectedOf(files, person, signal);
  } catch (error) {
    if (error instanceof GoBack) return null;
    throw error;
  }
}

async function rejectedOf(
  files: readonly FileProposal[],
  person: Dialogue,
  signal: AbortSignal,
): Promise<string[]> {
  const rejected: string[] = [];
  for (const [index, file] of files.entries()) {
    const changes = file.patch?.changes ?? [];
    if (changes.length === 0) continue;
    const place = `file ${index + 1} of ${files.length}`;
    const keys = [ALL, NONE, ...(changes.length > 1 ? [SELECT] : []), VIEW, BACK];
    const ofFile =
      files.length === 1 ? SELECT : await askFor(keys, previewOf(file, person.marks), place, person, signal);
    if (ofFile === NONE) rejected.push(...changes.map(({ changeId }) => changeId!));
    if (ofFile !== SELECT) continue;
    for (const [at, change] of changes.entries()) {
      if (!(await accepts(change, `change ${at + 1} of ${changes.length}`, person, signal)))
        rejected.push(change.changeId!);
    }
  }
  return rejected;
}

async function accepts(
  change: PatchChange,
  place: string,
  person: Dialogue,
  signal: AbortSignal,
): Promise<boolean> {
  return (await askFor([YES, NO, VIEW, BACK], changePreview(change), place, person, signal)) === YES;
}

/** Shows one item and asks until an answer is one of the keys. */
async function askFor(
  keys: readonly MenuItem[],
  preview: Preview,
  place: string,
  person: Dialogue,
  signal: AbortSignal,
): Promise<MenuItem> {
  const show = () => person.print(fitted(preview, place, person).join('\n'));
  show();
  for (;;) {
    const key = await askKey(keys, person, signal, { place: `${place}.`, onResize: show });
    if (key === null || key === BACK) throw new GoBack();
    if (key !== VIEW) return key;
    await person.showAll([`${place}: ${preview.title}`, ...bodyOf(preview, preview.whole(), person)], signal);
  }
}

function fitted(preview: Preview, place: string, person: Dialogue): string[] {
  const { size, marks } = person.layout;
  const rows = Math.max(3, size.rows - ASKED_ROWS - preview.notes.length);
  const shown = linesThatFit(preview.lines, rows, size.columns, marks.more);
  const hidden = hiddenText(shown, marks.more);
  return [
    '',
    wrapFor(person.output, `${place}: ${preview.title}`),
    ...bodyOf(preview, shown.lines, person),
    ...(hidden === '' ? [] : [person.paint('yellow', `${hidden}; v shows all`)]),
  ];
}

function bodyOf({ notes }: Preview, lines: readonly string[], { layout: { stream } }: Dialogue): string[] {
  return [
    ...notes.map((note) => wrapFor(stream, `  ${note}`)),
    ...lines.map((line) => paintDiffLine(line, stream)),
  ];
}
