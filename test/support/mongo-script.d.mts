/** The path of the script that starts a MongoDB-compatible server, `KIND PORT DIR`; null where it is not there. */
export const MONGO_SCRIPT: string | null;
