import { foldCase } from '@patchbay/protocol';

/** How folders are spelt on the disk, so that a file from elsewhere gets no second folder beside its own. */
export class FolderSpelling {
  private readonly exact = new Set<string>();
  private readonly folded = new Map<string, string>();

  /** @param elsewhere folders as the other side spells them: one that is there in both spellings is two */
  constructor(
    folders: readonly string[],
    private readonly elsewhere: ReadonlySet<string> = new Set(),
  ) {
    for (const folder of folders) this.add(folder);
  }

  /** The path as it is to be written: its folders as they are spelt here, new ones as the first file spells them. */
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
