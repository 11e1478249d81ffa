/**
 * The text of a created file [CREATE-3]: without byte order marks in front (removing only one of two would leave the
 * other as the file's own), and with `
 * ` for every `\r
 * ` and lone `\r`. U+FEFF elsewhere is content.
 */
export function normalizeText(text: string): string {
  return text.replace(/^\uFEFF+/, '').replace(/\r\n?/g, '\n');
}
