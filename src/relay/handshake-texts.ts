import { parseExactJson } from '@patchbay/protocol';

/** What the handshake has as numbers and as lists. */
const NUMBERS = ['protocol', 'maxInFlight'];
const LISTS = ['tools', 'roots', 'customTools'];

/**
 * A handshake whose numbers and lists came as text, as they do of clients that can send strings alone, such as those of
 * Socket.IO for Java [RELAY-30]. What is no such text stays as it is, to be named as a fault. A frame's bound is that of its texts.
 */
export function fromTexts(auth: unknown): unknown {
  if (typeof auth !== 'object' || auth === null || Array.isArray(auth)) return auth;
  const read: { [key: string]: unknown } = { ...auth };
  for (const key of NUMBERS) {
    const text = read[key];
    if (typeof text === 'string' && /^\d{1,9}$/.test(text)) read[key] = Number(text);
  }
  for (const key of LISTS) read[key] = fromList(read[key]);
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
}

function fromList(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  try {
    const value = parseExactJson(text);
    return Array.isArray(value) ? value : text;
  } catch {
    return text;
  }
}
