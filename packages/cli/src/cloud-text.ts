import type { WorkspaceFiles } from '@patchbay/client';
import type { CloudText } from '@patchbay/workspace';

/** What a Cloud file says now, for a person to compare; without it they are asked all the same. */
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
