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

/**
 * `inserted`: by this call. `exists`: a record has the key already, also this one if it was sent before. `taken`: another
 * record has a unique field.
 */
export type Inserted = 'inserted' | 'exists' | 'taken';

/** `Listing` without the type of its records. */
export interface RowListing {
  by: readonly string[];
  descending?: boolean;
  after?: Row;
  limit?: number;
}

/**
 * Declared records on one backend. Each write is atomic for each record that it changes, and none spans records: what
 * depends on the state of a record names that state in `where`.
 */
export abstract class RecordStore {
  /** NOT_FOUND where the record belongs to a workspace that is not there. `by`: the member who writes it. */
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
   * Sets fields of the records for which the condition holds. Gives how many these were; fewer, or 0, also where it was
   * sent again because the first answer was lost, so read the record before you conclude that another write came first.
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
  /** False where its key or a unique field is taken. */
  protected abstract insertRow(table: Table, row: Row, by: Membership | undefined): Promise<boolean>;
  /** The row with the key that is in `row`. */
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

/** Takes a step again for as long as it gives undefined: another write came in between of what it read and wrote. */
export async function untilDone<T>(step: () => Promise<T | undefined>): Promise<T> {
  for (let count = 0; count < ATTEMPTS; count += 1) {
    const result = await step();
    if (result !== undefined) return result;
  }
  throw new DomainError('UNAVAILABLE', 'Too many changes of one record at the same time. Try again later.');
}
