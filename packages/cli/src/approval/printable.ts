/**
 * What could steer a terminal or hide text from the reader: control characters of C0 and C1 (escape sequences begin with
 * one), direction overrides and isolates, zero-width, filling, unassigned and other invisible characters, line separators, blanks that
 * are no space and look like one, lone surrogates, and of marks that are piled up on one letter those that would cover the
 * lines above.
 */
const UNSAFE =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Cn}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\u{1D159}]|(?! )\p{Zs}|(?<=\p{M}{4})\p{M}/gu;

/** The same of what is written as JSON, where only such characters are escaped as JSON has to. */
const UNSAFE_IN_JSON = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/** Text that an LLM or a server chose, made safe to print: unsafe characters become visible, lines and tabs stay. */
export function printable(text: string): string {
  return text.replace(UNSAFE, (char) => (char === '\n' || char === '\t' ? char : escapeOf(char)));
}

/** The same for a place that has one line only. */
export function printableLine(text: string): string {
  return text.replace(UNSAFE, escapeOf);
}

/** Letters that are written from right to left, by their blocks, and words of them. */
const RTL = '[\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefe\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}]+';
const RTL_WORDS = new RegExp(`${RTL}(?: ${RTL})*`, 'gu');
const [FIRST_STRONG_ISOLATE, POP_ISOLATE] = ['\u2068', '\u2069'];

/**
 * Printable text for a terminal: words that are written from right to left stand isolated, so that a terminal which
 * reorders them leaves signs, digits and other words around them in the order in which they are written.
 */
export function isolateRtl(text: string, stream: NodeJS.WritableStream): string {
  const isTerminal = 'isTTY' in stream && stream.isTTY === true;
  if (!isTerminal) return text;
  return text.replace(RTL_WORDS, (words) => FIRST_STRONG_ISOLATE + words + POP_ISOLATE);
}

/** JSON of a value that is safe to print, and still means the same to whoever parses it. */
export function printableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(UNSAFE_IN_JSON, (char) =>
    char === '\n' ? char : escapedUnits(char),
  );
}

/** A character by its code. */
export function escapeOf(char: string): string {
  const code = char.codePointAt(0)!.toString(16);
  return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u{${code}}`;
}

/** A character beyond the first plane is two of them in JSON. */
function escapedUnits(char: string): string {
  return char
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
