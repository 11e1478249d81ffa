import { DomainError } from '../../common/domain-error.js';
import type { Membership } from '../ports/turn.js';
import {
  type Conditions,
  fromRow,
  type Listing,
  type RecordDeclaration,
  type Row,
  type Table,
  type TextField,
  toRow,
  type Where,
} from './declaration.js';

/** `exists`: a record has the key, perhaps from an earlier attempt. `taken`: another has a unique field. */
export type Inserted = 'inserted' | 'exists' | 'taken';

/** `Listing` without its record type. */
export interface RowListing {
  by: readonly string[];
  descending?: boolean;
  after?: Row;
  limit?: number;
}

/**
 * Declared records on one backend. A write is atomic per record and spans none: a write that depends on a record's
 * state names that state in `where`.
 */
export abstract class RecordStore {
  /** NOT_FOUND if the record's workspace does not exist. `by`: the member who writes it. */
  async insert<R extends object>(
    declaration: RecordDeclaration<R>,
    record: R,
    by?: Membership,
  ): Promise<Inserted> {
    const row = toRow(declaration, record);
    if (typeof row.workspaceId === 'string') await this.requireWorkspace(row.workspaceId);
    if (await this.insertRow(declaration, row, by)) return 'inserted';
    if (declaration.unique === undefined) return 'exists';
    return (await this.rowOf(declaration, row)) === null ? 'taken' : 'exists';
  }

  async byKey<R extends object, Key extends TextField<R>>(
    declaration: RecordDeclaration<R, Key>,
    key: Pick<R, Key>,
  ): Promise<R | null> {
    const row = await this.rowOf(declaration, toRow(declaration, key));
    return row === null ? null : fromRow(declaration, row);
  }

  async find<R extends object>(
    declaration: RecordDeclaration<R>,
    where: Where<R>,
    { after, ...listing }: Listing<R>,
  ): Promise<R[]> {
    const rows = await this.rowsWhere(declaration, where as Conditions, {
      ...listing,
      ...(after && { after: toRow(declaration, after) }),
    });
    return rows.map((row) => fromRow(declaration, row));
  }

  /**
   * Sets fields of the records that match the condition, and returns their number. It may be too low, or 0, if this
   * is a retry, so read the record before you conclude that another write came first.
   */
  update<R extends object, Key extends TextField<R>>(
    declaration: RecordDeclaration<R, Key>,
    where: Where<R>,
    set: Partial<Omit<R, Key>>,
    by?: Membership,
  ): Promise<number> {
    return this.updateRows(declaration, where as Conditions, toRow(declaration, set), by);
  }

  remove<R extends object>(declaration: RecordDeclaration<R>, where: Where<R>): Promise<void> {
    return this.removeRows(declaration, where as Conditions);
  }

  /** Every record, in the order of the key. */
  async *all<R extends object>(declaration: RecordDeclaration<R>): AsyncGenerator<R> {
    for await (const row of this.allRows(declaration)) yield fromRow(declaration, row);
  }

  protected abstract requireWorkspace(workspaceId: string): Promise<void>;
  /** False if its key or a unique field is taken. */
  protected abstract insertRow(table: Table, row: Row, by: Membership | undefined): Promise<boolean>;
  /** The row with the key in `row`. */
  protected abstract rowOf(table: Table, row: Row): Promise<Row | null>;
  protected abstract rowsWhere(table: Table, where: Conditions, listing: RowListing): Promise<Row[]>;
  protected abstract updateRows(
    table: Table,
    where: Conditions,
    set: Row,
    by: Membership | undefined,
  ): Promise<number>;
  protected abstract removeRows(table: Table, where: Conditions): Promise<void>;
  protected abstract allRows(table: Table): AsyncIterable<Row>;
}

const ATTEMPTS = 100;

/** Repeats a step while it returns undefined: another write came between its read and its write. */
export async function untilDone<T>(step: () => Promise<T | undefined>): Promise<T> {
  for (let count = 0; count < ATTEMPTS; count += 1) {
    const result = await step();
    if (result !== undefined) return result;
  }
  throw new DomainError('UNAVAILABLE', 'Too many changes of one record at the same time. Try again later.');
}
