import { LRUCache } from 'lru-cache';
import type { Conditions, Row, Table } from '../records/declaration.js';

/** Characters of all remembered rows. */
const MAX_CHARS = 16 * 1024 * 1024;
/** What an entry takes beside its texts. */
const ENTRY_CHARS = 256;

interface Entry {
  /** Which rows, and their order. */
  listing: string;
  rows: Row[];
}

/**
 * Remembers the rows of declared reads (`Table.remember`) until a write of the same values. No other process writes to
 * the embedded store, so a remembered row is always the stored one.
 */
export class RowMemory {
  private readonly entries = new LRUCache<string, Entry>({
    maxSize: MAX_CHARS,
    sizeCalculation: ({ rows }) => ENTRY_CHARS + rows.reduce((sum, row) => sum + charsOf(row), 0),
  });
  /** Counts the writes of a table that did not name the values of its reads. */
  private readonly generations = new Map<Table, number>();

  /** @param read reads the rows if they are not remembered */
  rows(table: Table, where: Conditions, listing: string, read: () => Row[]): Row[] {
    const key = this.keyOf(table, where);
    if (key === null || Object.keys(where).length > table.remember!.length) return read();
    const known = this.entries.get(key);
    if (known?.listing === listing) return known.rows;
    const rows = read();
    this.entries.set(key, { listing, rows });
    return rows;
  }

  /** Call after each write, whether it succeeded or not. */
  drop(table: Table, where: Conditions): void {
    if (table.remember === undefined) return;
    const key = this.keyOf(table, where);
    if (key === null) this.generations.set(table, this.generationOf(table) + 1);
    else this.entries.delete(key);
  }

  /** Null if the table is not remembered, or the conditions do not name the values of its reads. */
  private keyOf(table: Table, where: Conditions): string | null {
    const values = table.remember?.map((field) => where[field]);
    if (values === undefined || values.some((value) => typeof value !== 'string')) return null;
    return JSON.stringify([table.name, this.generationOf(table), ...values]);
  }

  private generationOf(table: Table): number {
    return this.generations.get(table) ?? 0;
  }
}

function charsOf(row: Row): number {
  let chars = 0;
  for (const value of Object.values(row)) chars += typeof value === 'string' ? value.length : 1;
  return chars;
}
