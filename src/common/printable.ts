/** Characters that can control a terminal or hide text in it, except line breaks. */
const UNSAFE = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** Escapes such characters in text of a disk, a database or another server. */
export function printable(text: string): string {
  return text.replace(UNSAFE, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
}
