/**
 * Text as a created file has it [CREATE-3]: no byte order mark in front, however many there were (without one of two the
 * other would be the file's), every `\r\n` and lone `\r` a `\n`. U+FEFF further on is content.
 */
export function normalizeText(text: string): string {
  return text.replace(/^\uFEFF+/, '').replace(/\r\n?/g, '\n');
}
