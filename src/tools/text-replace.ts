import { isStreamSafe } from '@patchbay/protocol';
import { ByteFinder } from './byte-finder.js';

/** One exact string for another. */
export interface Replacement {
  oldString: string;
  newString: string;
  /** Every occurrence; else there must be one only. */
  replaceAll: boolean;
}

/** The new text and how often the string was in it; how large it would be where that is too much; or why there is none. */
export type Replaced =
  | { kind: 'replaced'; bytes: Uint8Array; count: number }
  | { kind: 'too_large'; sizeBytes: number }
  | { kind: 'refused'; fault: string };

/** Places that a refusal counts. */
const MAX_COUNTED = 1_000;
/** Bytes that are copied one by one. */
const FEW = 64;
/** Longest string that a refusal looks for in another form, in characters. */
const MAX_HINTED = 10_000;

/**
 * Replaces a string in a text, both in UTF-8. Linear in the two, whatever they hold, and in one piece of memory: a
 * million occurrences cost no more than one.
 */
export function replaceText(text: Uint8Array, change: Replacement, maxBytes: number): Replaced {
  const { replaceAll } = change;
  const [wanted, fresh] = [Buffer.from(change.oldString), Buffer.from(change.newString)];
  const finder = new ByteFinder(wanted);
  const count = finder.count(text, replaceAll ? Infinity : MAX_COUNTED + 1, !replaceAll);
  if (count === 0) return { kind: 'refused', fault: `is not in the file${hintFor(text, change.oldString)}` };
  if (count > 1 && !replaceAll) {
    const times = count > MAX_COUNTED ? `more than ${MAX_COUNTED}` : count;
    const mend = 'take more of the text around it, or replaceAll';
    return { kind: 'refused', fault: `is in the file ${times} times; ${mend}` };
  }
  const sizeBytes = text.length + count * (fresh.length - wanted.length);
  if (sizeBytes > maxBytes) return { kind: 'too_large', sizeBytes };
  return { kind: 'replaced', bytes: withReplaced(text, finder, fresh, sizeBytes), count };
}

function withReplaced(text: Uint8Array, finder: ByteFinder, fresh: Buffer, sizeBytes: number): Uint8Array {
  const bytes = new Uint8Array(sizeBytes);
  let [from, to] = [0, 0];
  finder.each(text, false, (at) => {
    to = copy(text, from, at, bytes, to);
    to = copy(fresh, 0, fresh.length, bytes, to);
    from = at + finder.length;
    return true;
  });
  copy(text, from, text.length, bytes, to);
  return bytes;
}

/** Copies bytes start..end to `at`; returns where they end. A few of them cost less one by one. */
function copy(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  if (end - start > FEW) target.set(source.subarray(start, end), at);
  else for (let from = start, to = at; from < end; from += 1, to += 1) target[to] = source[from]!;
  return at + end - start;
}

/** In which other form the string is there. */
function hintFor(text: Uint8Array, oldString: string): string {
  if (oldString.length > MAX_HINTED || !isStreamSafe(oldString)) return '';
  const has = (form: string): boolean => new ByteFinder(Buffer.from(form)).count(text, 1, false) > 0;
  const asCrlf = oldString.replace(/\r?\n/g, '\r\n');
  if (asCrlf !== oldString && has(asCrlf)) return '; its lines end in \\r\\n';
  const forms = [oldString.normalize('NFC'), oldString.normalize('NFD')];
  const isOther = forms.some((form) => form !== oldString && has(form));
  return isOther ? '; it is there in another Unicode form' : '';
}
