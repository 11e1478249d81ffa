import type { Dialogue } from './dialogue.js';
import type { Paper } from './question-text.js';

/** One of the keys that answer a question. */
export interface MenuItem {
  /** Its first letter is the key; a person may type either. */
  word: string;
  /** Other words for the same. */
  also?: readonly string[];
  meaning: string;
}

/** Said of an answer that is no key. */
export const UNKNOWN = 'Please answer with one of the letters; ? explains them, n refuses, Ctrl-C leaves.';
/** Keys take effect with Enter, so that no key pressed by chance decides. */
const HOW = 'Key + Enter: ';
/** Columns that stay free for the answer. */
const ANSWER_COLUMNS = 4;

/**
 * `Key + Enter: [y]es  [n]o  [?] > `, or `Key + Enter: y/n/? > ` where that is too long for a line with an answer.
 * @param place what is asked about, where that is not all of the call, with its punctuation
 */
export function menuPrompt(items: readonly MenuItem[], { size }: Pick<Paper, 'size'>, place = ''): string {
  const how = place === '' ? HOW : `${place} ${HOW}`;
  const long = items.map(({ word }) => `[${word[0]}]${word.slice(1)}  `).join('');
  const prompt = `${how}${long}[?] > `;
  if (prompt.length + ANSWER_COLUMNS <= size.columns) return prompt;
  return `${how}${items.map(({ word }) => word[0]).join('/')}/? > `;
}

/** What each key does, a line each. */
export function menuHelp(items: readonly MenuItem[]): string[] {
  return [
    ...items.map(({ word, meaning }) => `  ${word[0]}  ${word}: ${meaning}`),
    '  Ctrl-D  goes back; Ctrl-C leaves: nothing is written, and the call stays open',
  ];
}

/** The item that an answer names; null for anything else. */
export function chosen<T extends MenuItem>(items: readonly T[], answer: string): T | null {
  const said = answer.trim().toLowerCase();
  return items.find(({ word, also }) => said === word || said === word[0] || also?.includes(said)) ?? null;
}

/**
 * Asks until one of the keys is the answer, and explains them meanwhile; null for Ctrl-D.
 * @param again shows once more what it is about, above the keys; `onResize` all of it, where the window has another size
 */
export async function askKey<T extends MenuItem>(
  items: readonly T[],
  person: Dialogue,
  signal: AbortSignal,
  { place, again, onResize }: { place?: string; again?: () => void; onResize?: () => void } = {},
): Promise<T | null> {
  for (;;) {
    const answer = await person.ask(() => menuPrompt(items, person.paper, place), signal, onResize);
    const key = answer === null ? null : chosen(items, answer);
    if (key || answer === null) return key;
    person.say(answer.trim() === '?' ? menuHelp(items).join('\n') : UNKNOWN);
    again?.();
  }
}
