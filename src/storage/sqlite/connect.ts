import { dirname } from 'node:path';
import Libsql from 'libsql';

/** Opens a database file; errors name the file. */
export function connect(file: string): Libsql.Database {
  try {
    return new Libsql(file);
  } catch (error) {
    throw withFile(file, error);
  }
}

/** Adds the file to errors of SQLite, which do not name it. */
export function withFile(file: string, error: unknown): unknown {
  if (!(error instanceof Error) || error.message.includes(dirname(file))) return error;
  return new Error(`Cannot open the database ${file}: ${error.message}`, { cause: error });
}
