/** Small results lie in the row of their call: a page of the log less for each turn. Larger ones stay in `turn_results`. */
export const SMALL_RESULTS_SCHEMA = `
ALTER TABLE turn_calls ADD COLUMN result TEXT;
ALTER TABLE turn_calls ADD COLUMN details TEXT;
`;
