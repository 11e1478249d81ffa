/** Whether every backend gives the text back as it was: some cut it at a NUL, all turn a lone surrogate into U+FFFD. */
export function isPlainText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** A text that a language model chose, in a form that can be stored and compared whatever it holds. */
export function toText(text: string): string {
  // A quote at the start marks the JSON form, so a text that starts with one takes it too.
  return text.startsWith('"') || !isPlainText(text) ? JSON.stringify(text) : text;
}

/** What `toText` was given. */
export function fromText(stored: string): string {
  return stored.startsWith('"') ? (JSON.parse(stored) as string) : stored;
}
