/* Entry `@patchbay/client/home` (Node): how the processes of one PATCHBAY_HOME share what they keep there. */
export { ClientLock, ClientLockedError } from './home/client-lock.js';
export { JournalFile } from './home/journal-file.js';
