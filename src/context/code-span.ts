/**
 * Characters that are invisible or can hide or reorder text: control, format, unassigned, lone surrogates, line
 * separators, supplementary variation selectors.
 */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\u{e0100}-\u{e01ef}]/gu;

/**
 * Renders a text as a one-line Markdown code span. File names come from people and models and must not act as markup or
 * instructions.
 */
export function codeSpan(text: string): string {
  const escaped = text.replace(INVISIBLE, (hidden) => `\\u{${hidden.codePointAt(0)!.toString(16)}}`);
  const longest = Math.max(0, ...(escaped.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  // Markdown strips one space from both ends, and a backtick must not touch the fence.
  const padding = escaped === '' || /^`|`$|^ .* $/.test(escaped) ? ' ' : '';
  return `${fence}${padding}${escaped}${padding}${fence}`;
}
