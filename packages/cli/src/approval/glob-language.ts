/** What a glob can say, for whoever writes one. */
export const GLOB_LANGUAGE =
  '* within a name, ** at any depth, ? one character, [abc], {a,b}, !(a) all but a, \\ before what is to be taken as it is; ' +
  'case counts, and a name that begins with a dot is matched only where the glob has the dot.';
