/**
 * What no reader sees as it is, and what can hide or reorder text: control, format and unassigned characters, lone
 * surrogates, line separators, variation selectors of the supplement.
 */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\u{e0100}-\u{e01ef}]/gu;

/**
 * A text as a Markdown code span on one line that it cannot end: names of files are chosen by people and models, and
 * must not turn into markup or instructions.
 */
export function codeSpan(text: string): string {
  const line = text.replace(INVISIBLE, (hidden) => `\\u{${hidden.codePointAt(0)!.toString(16)}}`);
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  // Of a space at both ends Markdown drops one each, and a backtick must not touch the fence.
  const padding = line === '' || /^`|`$|^ .* $/.test(line) ? ' ' : '';
  return `${fence}${padding}${line}${padding}${fence}`;
}
