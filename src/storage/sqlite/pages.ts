import type { SqliteDatabase } from './database.js';
import type { SqlValue } from './values.js';

const PAGE = 500;

/** Pages of rows, ordered by their key, which is in the first columns. */
export async function* pages<Row extends SqlValue[]>(
  database: SqliteDatabase,
  select: string,
  key: readonly string[],
  limit = PAGE,
): AsyncGenerator<Row[]> {
  const [names, holes] = [key.join(', '), key.map(() => '?').join(', ')];
  const end = `ORDER BY ${names} LIMIT ${limit}`;
  let rows = database.all<Row>(`${select} ${end}`);
  while (rows.length > 0) {
    yield rows;
    const last = rows.at(-1)!.slice(0, key.length);
    rows = database.all<Row>(`${select} WHERE (${names}) > (${holes}) ${end}`, last);
  }
}
