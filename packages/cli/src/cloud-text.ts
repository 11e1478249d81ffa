import type { WorkspaceFiles } from '@patchbay/client';
import type { CloudText } from '@patchbay/workspace';

/** The current text of a Cloud file, for a person to compare; without it the question is asked anyway. */
export function cloudTextOf(files: WorkspaceFiles): CloudText {
  return async (path, signal) => {
    try {
      const contents = await files.read(path, { signal });
      return contents && new TextDecoder('utf-8', { fatal: true }).decode(contents.bytes);
    } catch {
      return null;
    }
  };
}
