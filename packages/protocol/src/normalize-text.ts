/** Text as a created file has it [CREATE-3]: no BOM, every `\r\n` and lone `\r` a `\n`. */
export function normalizeText(text: string): string {
  const withoutBom = text.startsWith('\uFEFF') ? text.slice(1) : text;
  return withoutBom.replace(/\r\n?/g, '\n');
}
