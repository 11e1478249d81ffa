/**
 * Characters that could control a terminal or hide text: C0 and C1 controls, direction overrides and isolates,
 * zero-width, filler, unassigned and other invisible characters, line separators, blanks that look like a space, lone
 * surrogates, and stacked combining marks that would cover the lines above.
 */
const UNSAFE =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Cn}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\u{1D159}]|(?! )\p{Zs}|(?<=\p{M}{4})\p{M}/gu;

/** The subset that is escaped in JSON output, in the way that JSON allows. */
const UNSAFE_IN_JSON = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/** Makes text from an LLM or a server safe to print: unsafe characters become visible, lines and tabs stay. */
export function printable(text: string): string {
  return text.replace(UNSAFE, (char) => (char === '\n' || char === '\t' ? char : escapeOf(char)));
}

/** The same for a single line: line breaks and tabs become visible too. */
export function printableLine(text: string): string {
  return text.replace(UNSAFE, escapeOf);
}

/** The blocks of right-to-left letters, and words of them. */
const RTL = '[\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefe\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}]+';
const RTL_WORDS = new RegExp(`${RTL}(?: ${RTL})*`, 'gu');
const [FIRST_STRONG_ISOLATE, POP_ISOLATE] = ['\u2068', '\u2069'];

/**
 * Isolates right-to-left words in printable text for a terminal, so that a terminal which reorders them keeps signs,
 * digits and other words in place.
 */
export function isolateRtl(text: string, stream: NodeJS.WritableStream): string {
  const isTerminal = 'isTTY' in stream && stream.isTTY === true;
  if (!isTerminal) return text;
  return text.replace(RTL_WORDS, (words) => FIRST_STRONG_ISOLATE + words + POP_ISOLATE);
}

/** JSON that is safe to print and still parses to the same value. */
export function printableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(UNSAFE_IN_JSON, (char) =>
    char === '\n' ? char : escapedUnits(char),
  );
}

/** The code of a character in angle brackets. */
export function escapeOf(char: string): string {
  const code = char.codePointAt(0)!.toString(16);
  return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u{${code}}`;
}

/** A character beyond the first plane is two escapes in JSON. */
function escapedUnits(char: string): string {
  return char
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
