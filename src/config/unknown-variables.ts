import { editDistance } from './edit-distance.js';
import type { Environment } from './env-reader.js';

/** Variables with the same prefix that belong to the client and to docker-compose.yml, and may be in the same shell. */
const VARIABLES_OF_OTHERS = [
  'PATCHBAY_URL',
  'PATCHBAY_TOKEN',
  'PATCHBAY_WORKSPACE',
  'PATCHBAY_CLIENT_ID',
  'PATCHBAY_HOME',
  'PATCHBAY_EMAIL',
  'PATCHBAY_PASSWORD',
  'PATCHBAY_MAX_FILE_BYTES',
  'PATCHBAY_PUBLISH',
];
const PREFIX = 'PATCHBAY_';
/** Edit distance up to which a name counts as a typo. */
const MAX_DISTANCE = 2;
/** Letters that two forms of one word must share before their different endings. */
const STEM = 4;

/** Faults for probable typos: a server that ignored them would not have the intended settings. */
export function typosIn(env: Environment, known: readonly string[]): string[] {
  const found = findUnknown(env, known).filter(({ intended }) => intended !== null);
  return found.map(
    ({ name, intended }) => `${name} is not a variable of the server; did you mean ${intended}?`,
  );
}

/** Variables with the prefix that are unknown and not similar to any of the server's (`known`). */
export function unknownWithPrefix(env: Environment, known: readonly string[]): string[] {
  const found = findUnknown(env, known).filter(
    ({ name, intended }) => intended === null && name.startsWith(PREFIX),
  );
  return found.map(({ name }) => name);
}

/** `intended`: the variable of the server that was probably intended; null if none is similar. */
function findUnknown(
  env: Environment,
  known: readonly string[],
): { name: string; intended: string | null }[] {
  const all = new Set([...known, ...VARIABLES_OF_OTHERS]);
  const unknown = Object.keys(env).filter((name) => !all.has(name));
  return unknown.map((name) => ({ name, intended: intendedBy(name, known, all) }));
}

function intendedBy(name: string, known: readonly string[], all: ReadonlySet<string>): string | null {
  const letters = name.toUpperCase();
  const ownNames = known.filter((candidate) => candidate.startsWith(PREFIX));
  const similar = ownNames.find((candidate) => editDistance(letters, candidate, MAX_DISTANCE) !== null);
  const intended = similar ?? ownNames.find((candidate) => differsInEnding(letters, candidate));
  if (intended === undefined) return null;
  // A name that is closer to a variable of the client is not a typo of ours.
  const distance = editDistance(letters, intended, MAX_DISTANCE) ?? MAX_DISTANCE;
  const isClientVariable = [...all].some(
    (candidate) =>
      !ownNames.includes(candidate) &&
      (editDistance(letters, candidate, MAX_DISTANCE) ?? Infinity) < distance,
  );
  return isClientVariable ? null : intended;
}

/** The same words except for the ending of one: `REGISTER` and `REGISTRATION`, `DIR` and `DIRECTORY`. */
function differsInEnding(name: string, known: string): boolean {
  const [words, knownWords] = [name.split('_'), known.split('_')];
  if (words.length !== knownWords.length) return false;
  const different = words.flatMap((word, at) =>
    word === knownWords[at] ? [] : [[word, knownWords[at]!] as const],
  );
  if (different.length !== 1) return false;
  const [[word, other]] = different as [readonly [string, string]];
  const isLonger =
    Math.min(word.length, other.length) > 2 && (word.startsWith(other) || other.startsWith(word));
  return isLonger || word.slice(0, STEM) === other.slice(0, STEM);
}
