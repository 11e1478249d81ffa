import { editDistance } from './edit-distance.js';
import type { Environment } from './env-reader.js';

/**
 * Variables with the same prefix that belong to the client and to docker-compose.yml, and may be in the same shell.
 */
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
export function slipsIn(env: Environment, known: readonly string[]): string[] {
  const found = unknownIn(env, known).filter(({ meant }) => meant !== null);
  return found.map(({ name, meant }) => `${name} is not a variable of the server; did you mean ${meant}?`);
}

/** Variables with the prefix that are unknown and not similar to any of the server's (`known`). */
export function unauthenticatedIn(env: Environment, known: readonly string[]): string[] {
  const found = unknownIn(env, known).filter(({ name, meant }) => meant === null && name.startsWith(PREFIX));
  return found.map(({ name }) => name);
}

/** `meant`: the variable of the server that was probably intended; null if none is similar. */
function unknownIn(env: Environment, known: readonly string[]): { name: string; meant: string | null }[] {
  const all = new Set([...known, ...VARIABLES_OF_OTHERS]);
  const unknown = Object.keys(env).filter((name) => !all.has(name));
  return unknown.map((name) => ({ name, meant: meantBy(name, known, all) }));
}

function meantBy(name: string, known: readonly string[], all: ReadonlySet<string>): string | null {
  const letters = name.toUpperCase();
  const ours = known.filter((one) => one.startsWith(PREFIX));
  const near = ours.find((one) => editDistance(letters, one, MAX_DISTANCE) !== null);
  const meant = near ?? ours.find((one) => isAnotherEnding(letters, one));
  if (meant === undefined) return null;
  // A name that is closer to a variable of the client is not a typo of ours.
  const distance = editDistance(letters, meant, MAX_DISTANCE) ?? MAX_DISTANCE;
  const isOfOthers = [...all].some(
    (one) => !ours.includes(one) && (editDistance(letters, one, MAX_DISTANCE) ?? Infinity) < distance,
  );
  return isOfOthers ? null : meant;
}

/** The same words except for the ending of one: `REGISTER` and `REGISTRATION`, `DIR` and `DIRECTORY`. */
function isAnotherEnding(name: string, known: string): boolean {
  const [words, wanted] = [name.split('_'), known.split('_')];
  if (words.length !== wanted.length) return false;
  const different = words.flatMap((word, at) => (word === wanted[at] ? [] : [[word, wanted[at]!] as const]));
  if (different.length !== 1) return false;
  const [[word, other]] = different as [readonly [string, string]];
  const isLonger =
    Math.min(word.length, other.length) > 2 && (word.startsWith(other) || other.startsWith(word));
  return isLonger || word.slice(0, STEM) === other.slice(0, STEM);
}
