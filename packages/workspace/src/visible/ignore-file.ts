/** A change of it decides which files of the folder are sent: that is never a side effect of anything else. */
export function isIgnoreFile(path: string): boolean {
  return path.slice(path.lastIndexOf('/') + 1).toLowerCase() === '.gitignore';
}
