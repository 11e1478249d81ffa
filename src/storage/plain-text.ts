/** Whether every backend returns the text unchanged: some cut it at a NUL, all replace a lone surrogate. */
export function isPlainText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Encodes any text of a language model so that it can be stored and compared. */
export function toText(text: string): string {
  // A leading quote marks the JSON form, so texts that start with one use it too.
  return text.startsWith('"') || !isPlainText(text) ? JSON.stringify(text) : text;
}

/** Decodes the result of `toText`. */
export function fromText(stored: string): string {
  return stored.startsWith('"') ? (JSON.parse(stored) as string) : stored;
}
