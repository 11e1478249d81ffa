import type { RecordDeclaration } from '../records/declaration.js';
import { inPages } from '../records/pages.js';
import type { RecordStore } from '../records/record-store.js';
import { RECORDS } from '../records/records.js';
import type { AggregateKind, Kind, Records } from './records.js';

/** A store that can be read completely. */
export interface RecordSource {
  /** The declared records. */
  readonly records: RecordStore;
  /** Every record of a kind, in pages. */
  read<Of extends AggregateKind>(kind: Of): AsyncIterable<Records[Of][]>;
}

/** A store to be filled, in the order of KINDS. */
export interface RecordTarget extends RecordSource {
  write<Of extends AggregateKind>(kind: Of, records: readonly Records[Of][]): Promise<void>;
}

/** Every record of a kind, declared or not, in pages. */
export function readAll(source: RecordSource, kind: Kind): AsyncIterable<object[]> {
  const declaration = declarationOf(kind);
  if (declaration === undefined) return source.read(kind as AggregateKind);
  return inPages(source.records.all(declaration));
}

export async function writeAll(target: RecordTarget, kind: Kind, records: readonly object[]): Promise<void> {
  const declaration = declarationOf(kind);
  if (declaration === undefined) return target.write(kind as AggregateKind, records as never[]);
  await Promise.all(records.map((record) => target.records.insert(declaration, record)));
}

function declarationOf(kind: Kind): RecordDeclaration<object> | undefined {
  return RECORDS.find(({ name }) => name === kind) as RecordDeclaration<object> | undefined;
}
