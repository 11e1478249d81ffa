import type { Paper } from './question-text.js';

/** One of the keys that answer a question. */
export interface MenuItem {
  /** Its first letter is the key; a person may type either. */
  word: string;
  /** Other words for the same. */
  also?: readonly string[];
  meaning: string;
}

/** `[y]es  [n]o  [?] > `, or `y/n/? > ` where that is too long for a line with an answer. */
export function menuPrompt(items: readonly MenuItem[], { size }: Pick<Paper, 'size'>): string {
  const long = items.map(({ word }) => `[${word[0]}]${word.slice(1)}  `).join('');
  const prompt = `${long}[?] > `;
  if (prompt.length + 4 <= size.columns) return prompt;
  return `${items.map(({ word }) => word[0]).join('/')}/? > `;
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
