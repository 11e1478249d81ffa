import { foldCase } from '@patchbay/protocol';

/** How folders are spelt on the disk, so that a file from elsewhere gets no second folder beside its own. */
export class FolderSpelling {
  private readonly exact = new Set<string>();
  private readonly folded = new Map<string, string>();

  constructor(folders: readonly string[]) {
    for (const folder of folders) this.add(folder);
  }

  /** The path as it is to be written: its folders as they are spelt here, new ones as the first file spells them. */
  spell(path: string): string {
    const segments = path.split('/');
    let folder = '';
    for (const segment of segments.slice(0, -1)) {
      const given = folder === '' ? segment : `${folder}/${segment}`;
      folder = this.exact.has(given) ? given : (this.folded.get(foldCase(given)) ?? given);
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
