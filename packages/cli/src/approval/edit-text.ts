import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { runProgram } from './run-program.js';

/** $VISUAL, $EDITOR, or else vi (notepad on Windows). */
export function editorOf(env: NodeJS.ProcessEnv): string {
  return env.VISUAL || env.EDITOR || (process.platform === 'win32' ? 'notepad' : 'vi');
}

/**
 * Opens the person's editor on a temporary copy of `text`, readable by the user only and removed afterwards, and
 * returns what was saved. `name` gives the copy its extension.
 * @throws Error with a message for the person if the editor cannot be started, fails, or leaves no text
 */
export async function editText(
  name: string,
  text: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-edit-'));
  const extension = /^\.[A-Za-z0-9]{1,16}$/.exec(extname(name))?.[0] ?? '.txt';
  const file = join(folder, `proposal${extension}`);
  const editor = editorOf(env);
  try {
    await writeFile(file, text, { mode: 0o600 });
    const code = await runProgram({ command: editor, args: [file], env, signal });
    if (code === 127) throw new Error(`There is no editor "${editor}": set VISUAL or EDITOR to yours.`);
    if (code !== 0) throw new Error(`The editor "${editor}" ended with code ${code}; nothing was changed.`);
    return textOf(await readFile(file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const message = `There is no editor "${editor}", or it removed the file: set VISUAL or EDITOR to yours.`;
    throw new Error(message, { cause: error });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error('The saved file is not UTF-8 text; nothing was changed.');
  }
}
