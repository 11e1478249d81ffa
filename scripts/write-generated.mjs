import { readFile, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';

/**
 * Writes a generated file, formatted, where it is not what the code says already.
 * @returns {Promise<boolean>} whether it had to be written
 */
export async function writeGenerated(path, text) {
  const formatted = await format(text, { ...(await resolveConfig(path)), filepath: path });
  if (formatted === (await readFile(path, 'utf8').catch(() => null))) return false;
  await writeFile(path, formatted);
  return true;
}
