import type { CallSubject } from '../../storage/ports/turn.js';

/** Fields of a subject that say where it points: every event of the call has them. */
const PLACES = ['path', 'displayPath', 'docPath', 'fromPath', 'paths', 'morePaths'] as const;

/** Where a subject points. */
export function placesIn(subject: CallSubject): CallSubject {
  return Object.fromEntries(PLACES.flatMap((name) => (name in subject ? [[name, subject[name]!]] : [])));
}

/** A subject without where it points. */
export function withoutPlaces(subject: CallSubject): CallSubject {
  return Object.fromEntries(
    Object.entries(subject).filter(([name]) => !(PLACES as readonly string[]).includes(name)),
  );
}
