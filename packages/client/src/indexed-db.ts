/* Entry `@patchbay/client/indexed-db` (browsers): where a page keeps the journal of its relay client. */
export { IndexedDbJournals } from './indexed-db/indexed-db-journals.js';
