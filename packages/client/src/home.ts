/*
 * Entry `@patchbay/client/home` (Node): what a client keeps on disk, and how processes with one PATCHBAY_HOME share
 * it.
 */
export { ClientLockedError } from './journal/client-locked-error.js';
export { ClientLock } from './home/client-lock.js';
export { clientDirectory, DiskJournals, openDiskJournal } from './home/disk-journals.js';
export { identityOf, isSameFolder } from './home/same-folder.js';
export { keepRootId, rootIdOf } from './home/root-ids.js';
export { JournalFile } from './home/journal-file.js';
