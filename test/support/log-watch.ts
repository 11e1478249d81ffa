import type { DestinationStream } from 'pino';

/*
 * The log of every server that a test starts is kept, and checked when the server or the spec file ends: it must hold no
 * email, no token, no password and no text of a file that a test has sent.
 */

const PATTERNS = [
  ['an email', /[\w.+-]+@[\w-]+\.[a-z]{2,}/i],
  ['an access token', /eyJ[\w-]{10,}\.eyJ[\w-]{10,}/],
] as const;
/** Names under which requests carry texts of files. */
const CARRIES_TEXT = new Set(['content', 'newLines', 'expectedOriginalLines', 'newString', 'oldString']);
/** Shorter ones may be words of the log itself. */
const SHORTEST = 16;
const COMPARED = 80;
const MOST_TEXTS = 500;
const MOST_OF_REQUEST = 20;

const secrets = new Map<string, string>();
let lines: string[] = [];

afterAll(() => expectCleanLog());

/** Names a text that no log may hold. */
export function keepSecret(text: string, what: string): void {
  if (text.length >= SHORTEST && secrets.size < MOST_TEXTS) secrets.set(text.slice(0, COMPARED), what);
}

/** Keeps the texts of files among what a request sends from the log. */
export function keepTextsSecret(body: unknown): void {
  const found: string[] = [];
  collect(body, false, found);
  for (const text of found) keepSecret(JSON.stringify(text).slice(1, -1), 'a text of a file');
}

/** A destination of log lines that are checked, and passed on to `next`. */
export function watchedLog(next?: DestinationStream): DestinationStream {
  return {
    write: (line) => {
      lines.push(line);
      next?.write(line);
    },
  };
}

/** Checks what a server process has written. */
export function watchOutput(text: string): void {
  lines.push(text);
}

/** Fails where the log so far holds what it must not; what was checked is forgotten. */
export function expectCleanLog(): void {
  const log = lines.join('');
  lines = [];
  const found = [
    ...PATTERNS.map(([what, pattern]) => [what, pattern.exec(log)?.[0]] as const),
    ...[...secrets].map(([text, what]) => [what, log.includes(text) ? text : undefined] as const),
  ];
  for (const [what, text] of found) {
    if (text === undefined) continue;
    const line = log.split('\n').find((one) => one.includes(text));
    throw new Error(`The log of a server holds ${what}: ${line}`);
  }
}

function collect(value: unknown, isText: boolean, found: string[]): void {
  if (found.length >= MOST_OF_REQUEST) return;
  if (typeof value === 'string') {
    if (isText) found.push(value);
  } else if (Array.isArray(value)) {
    for (const item of value.slice(0, MOST_OF_REQUEST)) collect(item, isText, found);
  } else if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array)) {
    for (const [key, inner] of Object.entries(value)) collect(inner, isText || CARRIES_TEXT.has(key), found);
  }
}
