/** The directory of the `node` of a version, such as `24` or `20.19`, that `fetchNode` puts there. */
export function nodeDirectory(version: string): string;

/** Fetches the newest release of a version from npm, unless one was fetched before; returns its directory. */
export function fetchNode(version: string): string;
