/** What could steer a terminal, or hide text from who reads it there. Line breaks stay. */
const STEERS = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** Text of a disk, a database or another server, made safe to print: such characters become visible. */
export function printable(text: string): string {
  return text.replace(STEERS, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
}
