import { textBetween } from './cut-text.js';

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LITERAL = /true|false|null/y;
const BLANKS = /[ \t\n\r]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const FIRST_PRINTABLE = 0x20;
/** Characters of text that are shown before and after the fault. */
const SHOWN = 30;

/**
 * Where a text stops being JSON, as a phrase such as `line 2, column 7, at "…"`; null if it is JSON. Lines and
 * columns count from 1.
 */
export function jsonFault(text: string): string | null {
  const at = faultAt(text);
  if (at === null) return null;
  const start = text.lastIndexOf('\n', at - 1) + 1;
  const line = countLines(text, start);
  const place = `line ${line}, column ${at - start + 1}`;
  const before = textBetween(text, Math.max(0, at - SHOWN), at);
  if (at >= text.length) return `${place}: it ends too early, behind ${JSON.stringify(before)}`;
  return `${place}, at ${JSON.stringify(textBetween(text, at, at + SHOWN))} behind ${JSON.stringify(before)}`;
}

function countLines(text: string, end: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

/** What may come next: a value, or also the end of its list; a name, or also the end of its object; or a separator. */
type Next = 'value' | 'item' | 'name' | 'member' | 'colon' | 'separator';

/** Offset of the first invalid character; the length of the text if it ends too early. */
function faultAt(text: string): number | null {
  const closers: string[] = [];
  let next: Next = 'value';
  for (let at = endOf(BLANKS, text, 0); ; at = endOf(BLANKS, text, at)) {
    if (next === 'separator' && closers.length === 0) return at === text.length ? null : at;
    const char = text[at];
    const closer = closers[closers.length - 1];
    const mayClose = next === 'separator' || next === 'item' || next === 'member';
    if (mayClose && char !== undefined && char === closer) {
      closers.pop();
      [next, at] = ['separator', at + 1];
    } else if (next === 'separator' || next === 'colon') {
      if (char !== (next === 'colon' ? ':' : ',')) return at;
      [next, at] = [next === 'separator' && closer === '}' ? 'name' : 'value', at + 1];
    } else if (next === 'name' || next === 'member') {
      if (char !== '"') return at;
      const { end, isWhole } = readString(text, at);
      if (!isWhole) return end;
      [next, at] = ['colon', end];
    } else if (char === '[' || char === '{') {
      closers.push(char === '[' ? ']' : '}');
      [next, at] = [char === '[' ? 'item' : 'member', at + 1];
    } else {
      const { end, isWhole } = readScalar(text, at);
      if (!isWhole) return end;
      [next, at] = ['separator', end];
    }
  }
}

/** The end of a string, number or word, or the fault in it. */
interface Read {
  end: number;
  isWhole: boolean;
}

function readScalar(text: string, at: number): Read {
  if (text[at] === '"') return readString(text, at);
  const end = Math.max(endOf(NUMBER, text, at), endOf(LITERAL, text, at));
  return { end, isWhole: end > at };
}

function readString(text: string, start: number): Read {
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') return { end: at + 1, isWhole: true };
    if (text.charCodeAt(at) < FIRST_PRINTABLE) return { end: at, isWhole: false };
    if (char !== '\\') continue;
    const end = endOf(ESCAPE, text, at);
    if (end === at) return { end: at, isWhole: false };
    at = end - 1;
  }
  return { end: text.length, isWhole: false };
}

/** The end of the match at a position; the position itself without a match. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
