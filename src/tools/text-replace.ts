import { isStreamSafe } from '@patchbay/protocol';
import { ByteFinder } from './byte-finder.js';

/** A added of one exact string. */
export interface Replacement {
  oldString: string;
  newString: string;
  /** Replaces all occurrences; else exactly one must exist. */
  replaceAll: boolean;
}

/** The new text and the number of occurrences; or its size if it is too large; or why there is none. */
export type Replaced =
  | { kind: 'replaced'; bytes: Uint8Array; count: number }
  | { kind: 'too_large'; sizeBytes: number }
  | { kind: 'refused'; fault: string };

/** Occurrences that an error counts. */
const MAX_COUNTED = 1_000;
/** Copies up to this many bytes in a loop. */
const FEW = 64;
/** Longest string that is searched in other forms for a hint, in characters. */
const MAX_HINTED = 10_000;

/** Replaces a string in a UTF-8 text. Linear in both, with one allocation, however many occurrences there are. */
export function replaceText(text: Uint8Array, change: Replacement, maxBytes: number): Replaced {
  const { replaceAll } = change;
  const [wanted, added] = [Buffer.from(change.oldString), Buffer.from(change.newString)];
  const finder = new ByteFinder(wanted);
  const count = finder.count(text, replaceAll ? Infinity : MAX_COUNTED + 1, !replaceAll);
  if (count === 0) return { kind: 'refused', fault: `is not in the file${hintFor(text, change.oldString)}` };
  if (count > 1 && !replaceAll) {
    const times = count > MAX_COUNTED ? `more than ${MAX_COUNTED}` : count;
    const advice = 'include more surrounding text, or use replaceAll';
    return { kind: 'refused', fault: `is in the file ${times} times; ${advice}` };
  }
  const sizeBytes = text.length + count * (added.length - wanted.length);
  if (sizeBytes > maxBytes) return { kind: 'too_large', sizeBytes };
  return { kind: 'replaced', bytes: withReplaced(text, finder, added, sizeBytes), count };
}

function withReplaced(text: Uint8Array, finder: ByteFinder, added: Buffer, sizeBytes: number): Uint8Array {
  const bytes = new Uint8Array(sizeBytes);
  let [from, to] = [0, 0];
  finder.each(text, false, (at) => {
    to = copy(text, from, at, bytes, to);
    to = copy(added, 0, added.length, bytes, to);
    from = at + finder.length;
    return true;
  });
  copy(text, from, text.length, bytes, to);
  return bytes;
}

/** Copies bytes start..end to `at`; returns the new end. Short runs are faster in a loop. */
function copy(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  if (end - start > FEW) target.set(source.subarray(start, end), at);
  else for (let from = start, to = at; from < end; from += 1, to += 1) target[to] = source[from]!;
  return at + end - start;
}

/** A hint about another form in which the string occurs. */
function hintFor(text: Uint8Array, oldString: string): string {
  if (oldString.length > MAX_HINTED || !isStreamSafe(oldString)) return '';
  const has = (form: string): boolean => new ByteFinder(Buffer.from(form)).count(text, 1, false) > 0;
  const asCrlf = oldString.replace(/\r?\n/g, '\r\n');
  if (asCrlf !== oldString && has(asCrlf)) return '; its lines end in \\r\\n';
  const forms = [oldString.normalize('NFC'), oldString.normalize('NFD')];
  const isOther = forms.some((form) => form !== oldString && has(form));
  return isOther ? '; it is there in another Unicode form' : '';
}
