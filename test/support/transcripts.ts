import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './sources.js';
import type { Terminal } from './terminal.js';

const FILE = join(ROOT, 'docs/terminal.md');

/** What a test shows is what `docs/terminal.md` has under the fixture's name; with TRANSCRIPTS=write it is put there. */
export function expectTranscript(fixture: string, terminal: Terminal): void {
  // Said of what is slow, such as a machine with much to do.
  const lines = terminal.screen.all.filter((line) => !line.startsWith('… running: '));
  const shown = asEverywhere(lines.join('\n')).trimEnd();
  const text = readFileSync(FILE, 'utf8');
  const place = new RegExp(`(<!-- fixture: ${fixture} -->\n\n\`\`\`text\n)([^]*?)(\n\`\`\`)`);
  const [, , written] = place.exec(text) ?? [];
  if (written === undefined) throw new Error(`docs/terminal.md has no fixture ${fixture}.`);
  if (process.env.TRANSCRIPTS !== 'write') return expect(shown).toBe(written);
  writeFileSync(
    FILE,
    text.replace(place, (_all, before: string, _old, after: string) => before + shown + after),
  );
}

/** Without what is another in every run. */
function asEverywhere(text: string): string {
  return text
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'http://127.0.0.1:3000')
    .replaceAll(/\/tmp\/patchbay-at-terminal-\w+/g, '/home/ada')
    .replaceAll(/, as\s\S+\.$/gm, ', as ada@example.com.')
    .replaceAll(/patchbay revert [0-9a-f-]{36}/g, 'patchbay revert 0193b2c4-7d1e-7a52-9c3f-5e8d2b6a4f10')
    .replaceAll(/is lost \([^)]*\)/g, 'is lost (transport close)');
}
