/**
 * A text as a Markdown code block that it cannot end, behind a word on what it is: the fence is longer than any run of
 * backticks in it. A line end that the text lacks at its end is added, and said to be.
 */
export function codeBlock(text: string): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  const isOpen = text !== '' && !text.endsWith('\n');
  const what = isOpen ? 'its text, which does not end with a line end:' : 'its text:';
  return `${what}\n\n${fence}\n${text}${isOpen ? '\n' : ''}${fence}\n`;
}
