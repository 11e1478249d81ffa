import { dirname } from 'node:path';
import Libsql from 'libsql';

/** Opens a database's file; says which one it is where that fails. */
export function connect(file: string): Libsql.Database {
  try {
    return new Libsql(file);
  } catch (error) {
    throw withFile(file, error);
  }
}

/** SQLite does not say which file it cannot open, or cannot read. */
export function withFile(file: string, error: unknown): unknown {
  if (!(error instanceof Error) || error.message.includes(dirname(file))) return error;
  return new Error(`Cannot open the database ${file}: ${error.message}`, { cause: error });
}
