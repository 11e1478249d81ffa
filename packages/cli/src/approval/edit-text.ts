import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';

/**
 * Opens the person's editor ($VISUAL, $EDITOR, else vi or notepad) on a temporary copy of `text` and returns what
 * was saved. `name` gives the copy its extension. Throws if the editor can't be started or fails.
 */
export async function editText(name: string, text: string, signal: AbortSignal): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-edit-'));
  const extension = /^\.[A-Za-z0-9]{1,16}$/.exec(extname(name))?.[0] ?? '.txt';
  const file = join(folder, `proposal${extension}`);
  try {
    await writeFile(file, text, { mode: 0o600 });
    await runEditor(file, signal);
    return await readFile(file, 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function runEditor(file: string, signal: AbortSignal): Promise<void> {
  const editor =
    process.env.VISUAL || process.env.EDITOR || (process.platform === 'win32' ? 'notepad' : 'vi');
  return new Promise((resolve, reject) => {
    // Through a shell, since the variable may hold arguments ("code --wait"), as git does it.
    const child = spawn(`${editor} "${file}"`, { shell: true, stdio: 'inherit', signal });
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`The editor "${editor}" ended with code ${code}.`)),
    );
  });
}
