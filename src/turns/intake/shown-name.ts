import { cutText } from '@patchbay/protocol';

/** Longest tool name that an answer or an event repeats, in characters. */
const MAX_NAME = 256;

/** An unknown tool name, shortened for display. */
export function displayName(name: string): string {
  return [...cutText(name, 2 * MAX_NAME)].slice(0, MAX_NAME).join('');
}
