/**
 * Renders a text as a Markdown code block. The fence is longer than any run of backticks in the text. A missing final
 * line ending is added and mentioned.
 */
export function codeBlock(text: string): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  const isOpen = text !== '' && !text.endsWith('\n');
  const label = isOpen ? 'its text, which does not end with a line end:' : 'its text:';
  return `${label}\n\n${fence}\n${text}${isOpen ? '\n' : ''}${fence}\n`;
}
