import type { ContextActiveFile } from '@patchbay/protocol';

/** Note for a text that was omitted because it does not fit. */
export const DOES_NOT_FIT = 'it does not fit; read it with workspace_read_file';

/** The files with as many whole texts, in order, as fit into `bytes` when rendered. */
export function fitTexts(
  files: readonly ContextActiveFile[],
  bytes: number,
  render: (files: readonly ContextActiveFile[]) => string,
): ContextActiveFile[] {
  const size = (shown: readonly ContextActiveFile[]): number => Buffer.byteLength(render(shown));
  const listed = files.map((file) =>
    typeof file.text === 'string' ? { ...file, text: null, textMissing: DOES_NOT_FIT } : file,
  );
  let left = bytes - size(listed);
  return files.map((file, at) => {
    const without = listed[at]!;
    const cost = file === without ? 0 : size([file]) - size([without]);
    if (cost > left) return without;
    left -= cost;
    return file;
  });
}
