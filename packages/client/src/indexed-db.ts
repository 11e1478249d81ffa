/* Entry `@patchbay/client/indexed-db` (browsers): keeps the journal of a page's relay client. */
export { IndexedDbJournals } from './indexed-db/indexed-db-journals.js';
