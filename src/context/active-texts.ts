import type { ContextActiveFile } from '@patchbay/protocol';

/** Said of a text that is left out for want of room. */
export const DOES_NOT_FIT = 'it does not fit; read it with workspace_read_file';

/** The files with as many of their texts, the first ones first and whole, as fit into `bytes` of what is rendered of them. */
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
