/** Whether every backend gives the text back as it was: some cut it at a NUL, all turn a lone surrogate into U+FFFD. */
export function isPlainText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
