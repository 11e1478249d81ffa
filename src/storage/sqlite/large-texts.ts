import type { Json } from '@patchbay/protocol';
import { yieldIfBusy } from '../../common/yield-if-busy.js';
import { isLongerThan, jsonPieces } from '../../common/json-pieces.js';
import { JsonText } from '../../common/json-text.js';
import type { SqliteDatabase } from './database.js';
import { PARTS_MAX } from './text-parts.js';

/** JSON up to this length is stored whole, in a column of its own row. */
const LARGE = 128 * 1024;
/** Characters of a part. Each part is a short transaction, so that others run in between. */
const PART = 384 * 1024;

/** The stored form of a small value; null if it must be staged. */
export function smallColumn(value: Json): string | null {
  return isLongerThan(value, LARGE) ? null : JSON.stringify(value);
}

/**
 * Stores a large value before the transaction that refers to it, and returns its reference. It is invisible until it
 * is taken. If it fails, such as on a full disk, nothing remains.
 */
export async function stage(database: SqliteDatabase, value: Json): Promise<string> {
  let [id, part, bytes] = [0, 0, 0];
  const store = async (text: string): Promise<void> => {
    const blob = Buffer.from(text);
    const stored = await database.write(() => {
      const own = id || Number(database.run('INSERT INTO staged_texts DEFAULT VALUES').lastInsertRowid);
      database.run('INSERT INTO text_parts (id, bytes) VALUES (?, ?)', [own * PARTS_MAX + part, blob]);
      return own;
    });
    [id, part, bytes] = [stored, part + 1, bytes + blob.length];
  };
  try {
    await inParts(value, store);
  } catch (error) {
    await discard(database, [columnOf(id, bytes)]).catch(() => undefined);
    throw error;
  }
  return columnOf(id, bytes);
}

async function inParts(value: Json, store: (text: string) => Promise<void>): Promise<void> {
  let pending = '';
  for (const piece of jsonPieces(value)) {
    pending += piece;
    if (pending.length < PART) continue;
    await store(pending);
    pending = '';
    await yieldIfBusy();
  }
  if (pending !== '') await store(pending);
}

function columnOf(id: number, bytes: number): string {
  return `@${id}:${bytes}`;
}

/** Marks a staged text as referenced; call it in the referencing job. */
export function markReferenced(database: SqliteDatabase, column: string): void {
  if (isStaged(column)) database.run('DELETE FROM staged_texts WHERE id = ?', [idOf(column)]);
}

/** Removes staged texts that are not referenced after all. */
export async function discard(database: SqliteDatabase, columns: readonly string[]): Promise<void> {
  for (const column of columns) {
    if (isStaged(column)) await database.write(() => dropText(database, idOf(column)));
  }
}

/** The value of a column if it is small, else its text; yields between the parts. */
export async function readJson(database: SqliteDatabase, column: string): Promise<Json | JsonText> {
  if (!isStaged(column)) return JSON.parse(column) as Json;
  const parts: Buffer[] = [];
  for (let part = 0; ; part += 1) {
    const id = idOf(column) * PARTS_MAX + part;
    const row = database.get<[Uint8Array]>('SELECT bytes FROM text_parts WHERE id = ?', [id]);
    if (row === null) return new JsonText(parts);
    parts.push(Buffer.from(row[0].buffer, row[0].byteOffset, row[0].byteLength));
    await yieldIfBusy();
  }
}

function dropText(database: SqliteDatabase, id: number): void {
  const span = [id * PARTS_MAX, (id + 1) * PARTS_MAX];
  database.run('DELETE FROM text_parts WHERE id >= ? AND id < ?', span);
  database.run('DELETE FROM staged_texts WHERE id = ?', [id]);
}

/** Whether a column refers to a staged text. */
export function isStaged(column: string): boolean {
  return column.startsWith('@');
}

function idOf(column: string): number {
  return Number(column.slice(1, column.indexOf(':')));
}
