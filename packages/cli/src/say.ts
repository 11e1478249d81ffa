import { wrapFor } from './approval/fit.js';
import { isolateRtl, printable } from './approval/printable.js';

/** Colours and weights as `styleText` writes them. */
// eslint-disable-next-line no-control-regex -- control characters are exactly what is looked for
const STYLE = /(\u001b\[\d{1,2}m)/;

/** Prints lines for a person: wraps words at a terminal, and escapes what a server or a disk put into them. */
export function say(stream: NodeJS.WritableStream, text: string): void {
  const safe = text
    .split(STYLE)
    .map((part, at) => (at % 2 === 1 ? part : printable(part)))
    .join('');
  stream.write(`${isolateRtl(wrapFor(stream, safe), stream)}\n`);
}
