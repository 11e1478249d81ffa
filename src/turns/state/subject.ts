import type { CallSubject } from '../../storage/ports/turn.js';

/** Fields of a subject that name places; every event of the call has them. */
const PLACES = ['path', 'displayPath', 'docPath', 'fromPath', 'paths', 'morePaths'] as const;

/** The places of a subject. */
export function placesIn(subject: CallSubject): CallSubject {
  return Object.fromEntries(PLACES.flatMap((name) => (name in subject ? [[name, subject[name]!]] : [])));
}

/** A subject without its places. */
export function withoutPlaces(subject: CallSubject): CallSubject {
  return Object.fromEntries(
    Object.entries(subject).filter(([name]) => !(PLACES as readonly string[]).includes(name)),
  );
}
