/** Ignore files decide which files are sent, so a change of one needs its own approval. */
export function isIgnoreFile(path: string): boolean {
  return path.slice(path.lastIndexOf('/') + 1).toLowerCase() === '.gitignore';
}
