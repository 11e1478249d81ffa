/** Small arguments lie in the row of their call: a page of the log less for each turn. Larger ones stay in `turn_arguments`. */
export const SMALL_ARGUMENTS_SCHEMA = 'ALTER TABLE turn_calls ADD COLUMN arguments TEXT;';
