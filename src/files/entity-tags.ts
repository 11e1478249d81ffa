import { DomainError, fieldError } from '../common/domain-error.js';
import type { FileVersion } from '../storage/ports/files.store.js';
import type { Precondition } from './file-writes.js';

/** A condition header: any version, or one of these tags (RFC 9110 section 13). */
export interface TagCondition {
  any: boolean;
  /** sha256s of all tags, weak ones included. */
  tags: readonly string[];
  /** sha256s of the strong tags. */
  strong: readonly string[];
}

/** Longest list that is parsed, in characters: some hundred tags. */
const MAX_LIST = 8 * 1024;

/** A tag and its separator; the tag may contain a comma. */
const TAG = /[\s,]*(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"\s*(?:,|$)/y;

/** The ETag of a version: its sha256, so that equal bytes have equal tags. */
export function entityTag({ sha256 }: Pick<FileVersion, 'sha256'>): string {
  return `"${sha256}"`;
}

/** Reads `If-Match` or `If-None-Match`; null where the header is absent. */
export function readTags(header: string | undefined, name: string): TagCondition | null {
  if (header === undefined) return null;
  if (header.trim() === '*') return { any: true, tags: [], strong: [] };
  const [tags, strong]: [string[], string[]] = [[], []];
  if (header.length > MAX_LIST) throw fieldError(name, `must have at most ${MAX_LIST} characters`);
  const list = withoutSeparators(header);
  for (let at = 0; at < list.length || at === 0; at = TAG.lastIndex) {
    TAG.lastIndex = at;
    const match = TAG.exec(list);
    if (match === null) throw fieldError(name, 'must be * or a list of entity tags such as "<sha256>"');
    tags.push(match[2]!);
    if (match[1] === undefined) strong.push(match[2]!);
  }
  return { any: false, tags, strong };
}

/** Strips trailing separators without a regular expression, which would backtrack from each of a thousand commas. */
function withoutSeparators(list: string): string {
  let end = list.length;
  while (end > 0 && /[\s,]/.test(list[end - 1]!)) end -= 1;
  return list.slice(0, end);
}

/** The precondition of a write's headers: STALE if the head is not the expected one. */
export function precondition(ifMatch: TagCondition | null, ifNoneMatch: TagCondition | null): Precondition {
  return (head) => {
    if (ifMatch !== null && !matchesAny(head, ifMatch.any, ifMatch.strong)) {
      throw stale(head, head === null ? 'There is no such file.' : 'The file has moved on.');
    }
    if (ifNoneMatch !== null && matchesAny(head, ifNoneMatch.any, ifNoneMatch.tags)) {
      throw stale(head, 'The file is there already.');
    }
  };
}

/** Whether `If-None-Match` names the version, so the reader already has it. */
export function isKnown(version: FileVersion, ifNoneMatch: TagCondition | null): boolean {
  return ifNoneMatch !== null && matchesAny(version, ifNoneMatch.any, ifNoneMatch.tags);
}

function matchesAny(head: FileVersion | null, any: boolean, tags: readonly string[]): boolean {
  return head !== null && (any || tags.includes(head.sha256));
}

function stale(head: FileVersion | null, what: string): DomainError {
  const current = head === null ? '' : ` Its sha256 is ${head.sha256}.`;
  return new DomainError('STALE', `${what}${current}`, { details: { currentSha256: head?.sha256 ?? null } });
}
