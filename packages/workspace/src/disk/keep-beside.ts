import { NO_HARD_LINKS } from './atomic-write.js';
import { statFile } from './file-entry.js';
import type { FileSystem } from './file-system.js';
import { MAX_COMPONENT_BYTES } from './relative-path.js';
import type { SafeDirectory } from './safe-directory.js';
import { diskFault, errnoOf, renameFault } from './workspace-fault.js';

const SUFFIX = '.patchbay-kept';
const MAX_KEPT = 1_000;

/** Files whose content was replaced and is in no version. They are never synced. */
export const KEPT_FILE = /\.patchbay-kept(?:-\d+)?$/;

/**
 * Gives a file a second name in its folder, so that its content survives the replacement of the first name.
 * @returns the second name
 * @throws WorkspaceFault WriteFailed
 */
export async function keepBeside(fs: FileSystem, directory: SafeDirectory, name: string): Promise<string> {
  await directory.verify();
  for (let n = 1; ; n += 1) {
    const kept = keptName(name, n);
    try {
      await fs.link(directory.entry(name), directory.entry(kept));
      return kept;
    } catch (error) {
      if (errnoOf(error) === 'EEXIST' && n < MAX_KEPT) continue;
      if (!NO_HARD_LINKS.has(errnoOf(error) ?? ''))
        throw diskFault('WriteFailed', `"${name}" could not be kept as "${kept}"`, error);
      // Unlike link(2), rename(2) would overwrite an earlier kept file.
      if (n < MAX_KEPT && (await statFile(fs, directory, kept))) continue;
      await fs.rename(directory.entry(name), directory.entry(kept)).catch((fault: unknown) => {
        throw renameFault(`"${name}" could not be kept as "${kept}"`, fault);
      });
      return kept;
    }
  }
}

function keptName(name: string, n: number): string {
  const suffix = n === 1 ? SUFFIX : `${SUFFIX}-${n}`;
  let stem = name;
  while (Buffer.byteLength(stem) + suffix.length > MAX_COMPONENT_BYTES)
    stem = [...stem].slice(0, -1).join('');
  return stem + suffix;
}
