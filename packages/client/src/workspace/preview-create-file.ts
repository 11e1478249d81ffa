import type { CreateFileResult } from '@patchbay/protocol';

import type { WorkspaceContext } from './create-file.js';

/** What a create would do, for the person who decides (and for `--allow`, matched against `path`). */
export interface CreateFilePreview {
  /** As normalised, or as given where it is refused for its path. */
  path: string;
  kind: 'new' | 'overwrite' | 'refused';
  /** Text of the file that would be replaced; null where there is none, or none that can be shown. */
  before: string | null;
  /** Why `before` is null although there is a file. */
  hidden: 'binary' | 'too_large' | null;
  /** The text as it would be written: `\n` endings, no BOM; "" where it is refused. */
  after: string;
  /** Bytes that would be written. */
  sizeBytes: number;
  /** With `refused` the result to report, without asking anyone; else null. */
  refusal: CreateFileResult | null;
}

/** Looks at the disk and changes nothing; never throws. Its answer may be out of date when the call is executed. */
export async function previewCreateFile(
  context: WorkspaceContext,
  args: unknown,
): Promise<CreateFilePreview> {
  void [context, args];
  throw new Error('not written yet');
}
