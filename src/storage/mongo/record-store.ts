import type { Connection, Model, QueryFilter } from 'mongoose';
import type { Membership } from '../ports/turn.js';
import { type Conditions, keyIn, type Row, type Table } from '../records/declaration.js';
import { RecordStore, type RowListing } from '../records/record-store.js';
import type { MongoDatabase } from './database.js';
import { readsById } from './gathered.js';
import type { KnownWorkspaces } from './known-workspaces.js';
import type { Members } from './members.js';
import { checked, eq, keyOf } from './values.js';

type RowDocument = Row & { _id: string };
type Filter = QueryFilter<RowDocument>;

/** Stores each declaration in its own collection; see `record-collections.ts`. */
export class MongoRecordStore extends RecordStore {
  private readonly reads = new Map<Table, (_id: string) => Promise<RowDocument | null>>();

  constructor(
    private readonly database: MongoDatabase,
    private readonly workspaces: KnownWorkspaces,
    private readonly members: Members,
    private readonly connection: Connection,
  ) {
    super();
  }

  protected requireWorkspace(workspaceId: string): Promise<void> {
    return this.workspaces.require(workspaceId);
  }

  protected async insertRow(table: Table, row: Row, by: Membership | undefined): Promise<boolean> {
    if (by !== undefined) await this.members.require(by);
    return this.database.insert(this.model(table), { ...row, _id: idOf(table, row) });
  }

  protected async rowOf(table: Table, row: Row): Promise<Row | null> {
    let read = this.reads.get(table);
    if (read === undefined) {
      read = readsById(this.database, this.model(table), {});
      this.reads.set(table, read);
    }
    return toRow(table, await read(idOf(table, row)));
  }

  protected async rowsWhere(table: Table, where: Conditions, listing: RowListing): Promise<Row[]> {
    const { by, descending = false, after, limit = 0 } = listing;
    const filter = filterOf(table, where);
    if (after !== undefined) filter.$or = afterRow(by, descending ? '$lt' : '$gt', after);
    const sort = Object.fromEntries(by.map((field) => [field, descending ? -1 : 1] as const));
    const found = await this.database.attempt(() =>
      this.model(table).find(filter).sort(sort).limit(limit).lean<RowDocument[]>(),
    );
    return found.map((document) => toRow(table, document));
  }

  protected async updateRows(
    table: Table,
    where: Conditions,
    set: Row,
    by: Membership | undefined,
  ): Promise<number> {
    if (by !== undefined) await this.members.require(by);
    const [filter, $set] = [filterOf(table, where), checked(set)];
    const update = '_id' in filter ? 'updateOne' : 'updateMany';
    const { matchedCount } = await this.database.attempt(() => this.model(table)[update](filter, { $set }));
    return matchedCount;
  }

  protected async removeRows(table: Table, where: Conditions): Promise<void> {
    const filter = filterOf(table, where);
    await this.database.attempt(() => this.model(table).deleteMany(filter));
  }

  protected async *allRows(table: Table): AsyncGenerator<Row> {
    const found = this.model(table).find().sort({ _id: 1 }).lean<RowDocument[]>().cursor();
    for await (const document of found as AsyncIterable<RowDocument>) yield toRow(table, document);
  }

  private model({ name }: Table): Model<RowDocument> {
    return this.connection.model<RowDocument>(name);
  }
}

function idOf(table: Table, row: Conditions): string {
  return keyOf(...keyIn(table, row));
}

/** A condition on the whole key becomes one on `_id`. */
function filterOf(table: Table, where: Conditions): Filter {
  const filter: Record<string, object> = {};
  for (const [field, condition] of Object.entries(where))
    filter[field] =
      typeof condition === 'object' && condition !== null ? { $lt: checked(condition.below) } : eq(condition);
  if (!table.key.every((field) => typeof where[field] === 'string')) return filter;
  for (const field of table.key) delete filter[field];
  return { _id: eq(idOf(table, where)), ...filter };
}

/** The condition for rows after this one in the order of these fields. */
function afterRow(by: readonly string[], operator: '$lt' | '$gt', row: Row): Filter[] {
  return by.map((field, at) => {
    const same = by.slice(0, at).map((before) => [before, eq(row[before]!)]);
    return { ...Object.fromEntries(same), [field]: { [operator]: row[field] } } as Filter;
  });
}

function toRow<Found extends RowDocument | null>({ fields }: Table, document: Found): Found | Row {
  if (document === null) return document;
  const row: Record<string, string | number | null> = {};
  for (const field in fields) row[field] = document[field]!;
  return row;
}
