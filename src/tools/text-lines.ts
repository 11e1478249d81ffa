const BOM = '\uFEFF';

/** A text without its byte order mark, which is not part of line 1. */
export function withoutBom(text: string): string {
  return text.startsWith(BOM) ? text.slice(1) : text;
}

/**
 * The lines of a text with their endings [LINE-1]: only `\n` ends a line, so `\r\n` stays together. An empty text has
 * none.
 */
export function* linesOf(text: string): Generator<string> {
  let start = 0;
  while (start < text.length) {
    const end = text.indexOf('\n', start);
    yield text.slice(start, end === -1 ? text.length : end + 1);
    if (end === -1) return;
    start = end + 1;
  }
}
