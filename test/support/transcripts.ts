import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './sources.js';
import type { Terminal } from './terminal.js';

const FILE = join(ROOT, 'docs/terminal.md');

/** What a test shows is what `docs/terminal.md` has under the scene's name; with TRANSCRIPTS=write it is put there. */
export function expectTranscript(scene: string, terminal: Terminal): void {
  // Said of what is slow, such as a machine with much to do.
  const lines = terminal.screen.all.map(asEverywhere).filter((line) => !line.startsWith('… running: '));
  while (lines.at(-1) === '') lines.pop();
  const shown = lines.join('\n');
  const text = readFileSync(FILE, 'utf8');
  const place = new RegExp(`(<!-- scene: ${scene} -->\n\n\`\`\`text\n)([^]*?)(\n\`\`\`)`);
  const [, , written] = place.exec(text) ?? [];
  if (written === undefined) throw new Error(`docs/terminal.md has no scene ${scene}.`);
  if (process.env.TRANSCRIPTS !== 'write') return expect(shown).toBe(written);
  writeFileSync(
    FILE,
    text.replace(place, (_all, before: string, _old, after: string) => before + shown + after),
  );
}

/** Without what is another in every run. */
function asEverywhere(line: string): string {
  return line
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'http://127.0.0.1:3000')
    .replaceAll(/\/tmp\/patchbay-at-terminal-\w+/g, '/home/ada')
    .replace(/, as \S+\.$/, ', as ada@example.com.')
    .replace(/is gone \([^)]*\)/, 'is gone (transport close)');
}
