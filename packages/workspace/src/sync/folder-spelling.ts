import { foldCase } from '@patchbay/protocol';

/** The local spelling of folders, so that a new file uses the existing folder instead of one that differs by case. */
export class FolderSpelling {
  private readonly exact = new Set<string>();
  private readonly folded = new Map<string, string>();

  /** @param elsewhere folders in the Cloud's spelling; if it has both spellings, they are two folders */
  constructor(
    folders: readonly string[],
    private readonly elsewhere: ReadonlySet<string> = new Set(),
  ) {
    for (const folder of folders) this.add(folder);
  }

  /** Returns the path with existing folders in their local spelling. The first file decides about new folders. */
  spell(path: string): string {
    const segments = path.split('/');
    let folder = '';
    for (const segment of segments.slice(0, -1)) {
      const given = folder === '' ? segment : `${folder}/${segment}`;
      const known = this.folded.get(foldCase(given));
      const isAnother = known === undefined || this.elsewhere.has(known);
      folder = this.exact.has(given) || isAnother ? given : known;
      this.add(folder);
    }
    return folder === '' ? path : `${folder}/${segments.at(-1)}`;
  }

  private add(folder: string): void {
    this.exact.add(folder);
    const key = foldCase(folder);
    if (!this.folded.has(key)) this.folded.set(key, folder);
  }
}
