import { type HiddenContext, hiddenForCall } from '../visible/hidden-doc-paths.js';
import { refusalText } from '../visible/hidden.js';
import { PatchFileFault } from './patch-file-fault.js';

/**
 * Why files may not be patched, by docPath: what is wrong with a patch is answered with lines of the file and its sha256,
 * and nobody is asked before. So whether it fits makes no difference to the answer, nor does who would allow it.
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
