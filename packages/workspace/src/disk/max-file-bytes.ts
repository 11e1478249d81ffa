/** Largest file that is written or read, in bytes; PATCHBAY_MAX_FILE_BYTES sets another. */
export const DEFAULT_MAX_FILE_BYTES = 8 * 1024 * 1024;
