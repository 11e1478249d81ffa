import { JsonCount } from '@patchbay/protocol';
import { type FieldFaults, throwIfAny } from '../common/domain-error.js';
import { readJsonText } from '../tools/parsed-texts.js';

/** What the handshake has as numbers and as lists. */
const NUMBERS = ['protocol', 'maxInFlight'];
const LISTS = ['tools', 'roots', 'customTools'];

/**
 * A handshake whose numbers and lists came as text, as they do of clients that can send strings alone, such as those of
 * Socket.IO for Java [RELAY-30]. JSON of another type stays as it is, to be named as a fault. VALIDATION_ERROR for a list
 * that is no JSON. A frame's bound is that of its texts.
 */
export function fromTexts(auth: unknown): unknown {
  if (typeof auth !== 'object' || auth === null || Array.isArray(auth)) return auth;
  const read: { [key: string]: unknown } = { ...auth };
  for (const key of NUMBERS) {
    const text = read[key];
    if (typeof text === 'string' && /^\d{1,9}$/.test(text)) read[key] = Number(text);
  }
  const faults: FieldFaults = {};
  const count = new JsonCount();
  for (const key of LISTS) {
    const text = read[key];
    if (typeof text !== 'string') continue;
    const { value, fault } = readJsonText(text, count);
    if (fault !== null) faults[key] = `must be an array; the text ${fault}`;
    else if (Array.isArray(value)) read[key] = value;
  }
  throwIfAny(faults);
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
}
