import { Injectable } from '@nestjs/common';
import type { Membership } from '../ports/turn.js';
import type { Conditions, Row, Table } from '../records/declaration.js';
import { keyIn } from '../records/declaration.js';
import { RecordStore, type RowListing } from '../records/record-store.js';
import { SqliteDatabase } from './database.js';
import { requireMember } from './members.js';
import { pages } from './pages.js';
import { columnOf, columnsOf } from './record-tables.js';
import { RowMemory } from './row-memory.js';
import type { SqlValue } from './values.js';
import { WorkspaceKeys } from './workspace-keys.js';

const PAGE = 50;

/** The unconditional statements of a table; `fields` are in the order of the selected columns. */
interface Statements {
  fields: readonly string[];
  select: string;
  byKey: string;
  insert: string;
}

/** Stores each declaration in its own table, ordered by its key. */
@Injectable()
export class SqliteRecordStore extends RecordStore {
  private readonly statements = new Map<Table, Statements>();
  private readonly memory: RowMemory;

  constructor(
    private readonly database: SqliteDatabase,
    private readonly workspaces: WorkspaceKeys,
  ) {
    super();
    this.memory = database.part(RowMemory);
  }

  protected async requireWorkspace(workspaceId: string): Promise<void> {
    this.workspaces.require(workspaceId);
  }

  protected insertRow(table: Table, row: Row, by: Membership | undefined): Promise<boolean> {
    const { fields, insert } = this.statementsOf(table);
    const values = fields.map((field) => row[field]!);
    return this.write(table, row, by, () => this.database.run(insert, values).changes === 1);
  }

  protected async rowOf(table: Table, row: Row): Promise<Row | null> {
    const key = keyIn(table, row);
    const where = Object.fromEntries(table.key.map((field, at) => [field, key[at]!]));
    const [found] = this.memory.rows(table, where, 'key', () => {
      const { fields, byKey } = this.statementsOf(table);
      return this.database.all(byKey, key).map((values) => named(fields, values));
    });
    return found ?? null;
  }

  protected async rowsWhere(table: Table, where: Conditions, listing: RowListing): Promise<Row[]> {
    const { by, descending = false, after, limit = -1 } = listing;
    const read = (): Row[] => this.select(table, where, listing);
    return after ? read() : this.memory.rows(table, where, `${by.join()} ${descending} ${limit}`, read);
  }

  protected updateRows(
    table: Table,
    where: Conditions,
    set: Row,
    by: Membership | undefined,
  ): Promise<number> {
    const assignments = Object.keys(set).map((field) => `${columnOf(field)} = ?`);
    const { conditions, values } = conditionsOf(where);
    const sql = `UPDATE ${table.name} SET ${assignments.join(', ')}${whereSql(conditions)}`;
    return this.write(
      table,
      where,
      by,
      () => this.database.run(sql, [...Object.values(set), ...values]).changes,
    );
  }

  protected async removeRows(table: Table, where: Conditions): Promise<void> {
    const { conditions, values } = conditionsOf(where);
    const sql = `DELETE FROM ${table.name}${whereSql(conditions)}`;
    await this.write(table, where, undefined, () => this.database.run(sql, values));
  }

  protected async *allRows(table: Table): AsyncGenerator<Row> {
    const { fields, select } = this.statementsOf(table);
    for await (const rows of pages(this.database, select, table.key.map(columnOf), PAGE))
      for (const row of rows) yield named(fields, row);
  }

  private select(
    table: Table,
    where: Conditions,
    { by, descending = false, after, limit = -1 }: RowListing,
  ): Row[] {
    const { fields, select } = this.statementsOf(table);
    const { conditions, values } = conditionsOf(where);
    if (after !== undefined) {
      conditions.push(`(${columnsOf(by)}) ${descending ? '<' : '>'} (${by.map(() => '?').join(', ')})`);
      values.push(...by.map((field) => after[field]!));
    }
    const order = by.map((field) => columnOf(field) + (descending ? ' DESC' : '')).join(', ');
    const sql = `${select}${whereSql(conditions)} ORDER BY ${order} LIMIT ?`;
    return this.database.all(sql, [...values, limit]).map((row) => named(fields, row));
  }

  /** @param where the written values, for the memory */
  private write<T>(table: Table, where: Conditions, by: Membership | undefined, job: () => T): Promise<T> {
    const workspace = by && this.workspaces.require(by.workspaceId);
    return this.database
      .write(() => {
        if (workspace !== undefined) requireMember(this.database, workspace, by!.userId);
        return job();
      })
      .finally(() => this.memory.drop(table, where));
  }

  private statementsOf(table: Table): Statements {
    let known = this.statements.get(table);
    if (known === undefined) {
      const { name, key } = table;
      const fields = [...key, ...Object.keys(table.fields).filter((field) => !key.includes(field))];
      const columns = columnsOf(fields);
      const select = `SELECT ${columns} FROM ${name}`;
      known = {
        ...{ fields, select },
        byKey: select + whereSql(key.map((field) => `${columnOf(field)} = ?`)),
        insert: `INSERT INTO ${name} (${columns}) VALUES (${fields.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`,
      };
      this.statements.set(table, known);
    }
    return known;
  }
}

function conditionsOf(where: Conditions): { conditions: string[]; values: SqlValue[] } {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  for (const [field, condition] of Object.entries(where)) {
    const column = columnOf(field);
    if (condition === null) conditions.push(`${column} IS NULL`);
    else if (typeof condition === 'object') {
      conditions.push(`${column} < ?`);
      values.push(condition.below);
    } else {
      conditions.push(`${column} = ?`);
      values.push(condition);
    }
  }
  return { conditions, values };
}

function whereSql(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
}

function named(fields: readonly string[], values: readonly SqlValue[]): Row {
  const row: Record<string, string | number | null> = {};
  fields.forEach((field, at) => (row[field] = values[at] as string | number | null));
  return row;
}
