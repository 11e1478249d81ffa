/**
 * What could steer a terminal or hide text from the reader: control characters (ANSI escapes begin with one),
 * direction overrides, zero-width and other format characters, line separators, lone surrogates.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** Text that an LLM or a server chose, made safe to print: unsafe characters become visible, lines and tabs stay. */
export function printable(text: string): string {
  return text.replace(UNSAFE, (char) => (char === '\n' || char === '\t' ? char : escapeOf(char)));
}

/** The same for a place that has one line only. */
export function printableLine(text: string): string {
  return text.replace(UNSAFE, escapeOf);
}

function escapeOf(char: string): string {
  const code = char.codePointAt(0)!.toString(16);
  return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u{${code}}`;
}
