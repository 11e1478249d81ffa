/** What a glob can say, for whoever writes one. */
export const GLOB_LANGUAGE =
  '* within a name, ** at any depth, ? one character, [abc], {a,b}, !(a) anything but a, \\ before a literal character; ' +
  'case matters, and a leading dot is matched only if the glob has it.';
