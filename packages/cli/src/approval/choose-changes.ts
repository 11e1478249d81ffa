import type { PatchChange } from '@patchbay/protocol';
import type { FileProposal } from '@patchbay/workspace';
import { changePreview, previewOf, type Preview } from './preview.js';

/** A person at a terminal, who is asked one question at a time. */
export interface Dialogue {
  readonly output: NodeJS.WritableStream;
  readonly ask: (question: string) => Promise<string>;
  readonly print: (text: string) => void;
}

/** Lines of a file or change that are shown before its question. */
const SHOWN_LINES = 60;

/** Has a person accept or reject the files and changes of a patch. @returns the ids of the rejected changes. */
export async function chooseChanges(files: readonly FileProposal[], person: Dialogue): Promise<string[]> {
  const rejected: string[] = [];
  for (const [index, file] of files.entries()) {
    const changes = file.patch?.changes ?? [];
    const isOnly = files.length === 1;
    const choice = isOnly ? 's' : await chooseFile(file, `file ${index + 1} of ${files.length}`, person);
    if (choice === 'n') rejected.push(...changes.map(({ changeId }) => changeId!));
    if (choice !== 's') continue;
    for (const [at, change] of changes.entries()) {
      const place = `change ${at + 1} of ${changes.length}`;
      if (!(await accepts(change, place, person))) rejected.push(change.changeId!);
    }
  }
  return rejected;
}

async function chooseFile(file: FileProposal, place: string, person: Dialogue): Promise<string> {
  show(previewOf(file, person.output), place, person);
  const hasParts = (file.patch?.changes.length ?? 0) > 1;
  const select = hasParts ? '  [s]elect its changes' : '';
  return askFor(
    ['all', 'none', ...(hasParts ? ['select'] : [])],
    `${place}: [a]ll of it  [n]one of it${select} > `,
    person,
  );
}

async function accepts(change: PatchChange, place: string, person: Dialogue): Promise<boolean> {
  show(changePreview(change, person.output), place, person);
  return (await askFor(['yes', 'no'], `${place}: [y]es  [n]o > `, person)) === 'y';
}

function show({ title, lines }: Preview, place: string, { print }: Dialogue): void {
  const hidden = lines.length - SHOWN_LINES;
  print(`\n${place}: ${title}`);
  print([...lines.slice(0, SHOWN_LINES), ...(hidden > 0 ? [`… ${hidden} more lines`] : [])].join('\n'));
}

/** @returns the first letter of the word that was answered, in full or by that letter */
async function askFor(words: readonly string[], question: string, { ask, print }: Dialogue): Promise<string> {
  for (;;) {
    const answer = (await ask(question)).trim().toLowerCase();
    const word = words.find((candidate) => answer === candidate || answer === candidate[0]);
    if (word) return word[0]!;
    print('Please answer with one of the letters.');
  }
}
