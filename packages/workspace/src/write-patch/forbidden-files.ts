import { type HiddenContext, hiddenForCall } from '../visible/hidden-doc-paths.js';
import { refusalText } from '../visible/hidden.js';
import { PatchFileFault } from './patch-file-fault.js';

/**
 * Why files must not be patched, by docPath. Errors of a patch contain lines and sha256 of the file and are sent
 * without a question. So hidden files get the same answer whether the patch fits or not.
 */
export async function forbiddenFiles(
  context: HiddenContext,
  docPaths: readonly string[],
): Promise<Map<string, PatchFileFault>> {
  const hidden = await hiddenForCall(context, docPaths);
  return new Map(
    [...hidden].map(([docPath, why]) => [docPath, new PatchFileFault('FORBIDDEN', refusalText(why))]),
  );
}
