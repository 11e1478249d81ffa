import type { Dialogue } from './dialogue.js';
import type { Layout } from './question-text.js';

/** One of the keys that answer a question. */
export interface MenuItem {
  /** Its first letter is the key; both are accepted. */
  word: string;
  /** Synonyms. */
  also?: readonly string[];
  meaning: string;
}

/** Reply to an unknown answer. */
export const UNKNOWN = 'Please answer with one of the letters; ? explains them, n refuses, Ctrl-C leaves.';
/** Keys need Enter, so that no accidental key press decides. */
const HOW = 'Key + Enter: ';
/** Columns kept free for the answer. */
const ANSWER_COLUMNS = 4;

/**
 * `Key + Enter: [y]es  [n]o  [?] > `, or `Key + Enter: y/n/? > ` if the long form leaves no room for the answer.
 * @param place which part of the call is asked about, with its punctuation; "" for all of it
 */
export function menuPrompt(items: readonly MenuItem[], { size }: Pick<Layout, 'size'>, place = ''): string {
  const how = place === '' ? HOW : `${place} ${HOW}`;
  const long = items.map(({ word }) => `[${word[0]}]${word.slice(1)}  `).join('');
  const prompt = `${how}${long}[?] > `;
  if (prompt.length + ANSWER_COLUMNS <= size.columns) return prompt;
  return `${how}${items.map(({ word }) => word[0]).join('/')}/? > `;
}

/** One line of help per key. */
export function menuHelp(items: readonly MenuItem[]): string[] {
  return [
    ...items.map(({ word, meaning }) => `  ${word[0]}  ${word}: ${meaning}`),
    '  Ctrl-D  goes back; Ctrl-C leaves: nothing is written, and the call stays open',
  ];
}

/** The item that an answer names, or null. */
export function chosen<T extends MenuItem>(items: readonly T[], answer: string): T | null {
  const said = answer.trim().toLowerCase();
  return items.find(({ word, also }) => said === word || said === word[0] || also?.includes(said)) ?? null;
}

/**
 * Asks until an answer is one of the keys, and explains them on request; null for Ctrl-D.
 * @param again shows the subject again, above the keys; `onResize` shows all of it after a resize
 */
export async function askKey<T extends MenuItem>(
  items: readonly T[],
  person: Dialogue,
  signal: AbortSignal,
  { place, again, onResize }: { place?: string; again?: () => void; onResize?: () => void } = {},
): Promise<T | null> {
  for (;;) {
    const answer = await person.ask(() => menuPrompt(items, person.layout, place), signal, onResize);
    const key = answer === null ? null : chosen(items, answer);
    if (key || answer === null) return key;
    person.say(answer.trim() === '?' ? menuHelp(items).join('\n') : UNKNOWN);
    again?.();
  }
}
