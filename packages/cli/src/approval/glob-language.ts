/** Explains the glob syntax to the user. */
export const GLOB_LANGUAGE =
  '* within a name, ** at any depth, ? one character, [abc], {a,b}, !(a) all but a, \\ escapes a character; ' +
  'case-sensitive, and a name that begins with a dot matches only if the glob has the dot.';
