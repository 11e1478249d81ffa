import { JsonCount } from '@patchbay/protocol';
import { type FieldFaults, throwIfAny } from '../common/domain-error.js';
import { readJsonText } from '../tools/parsed-texts.js';

/** Handshake fields that are numbers, and those that are lists. */
const NUMBERS = ['protocol', 'maxInFlight'];
const LISTS = ['tools', 'roots', 'customTools'];

/**
 * Parses numbers and lists that came as text, as from Socket.IO for Java, which sends only strings [RELAY-30]. JSON of
 * another type stays and fails validation later. VALIDATION_ERROR for invalid JSON in a list. The frame limit bounds
 * the texts.
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
