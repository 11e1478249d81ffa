import type { Table } from '../records/declaration.js';

/** `fullName` is stored in the column full_name. */
export function columnOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function columnsOf(fields: readonly string[]): string {
  return fields.map(columnOf).join(', ');
}

/** The statements that create the table of a declaration, with its indexes. */
export function tableSql({ name, fields, key, unique = [], indexes = [] }: Table): string {
  const columns = Object.entries(fields).map(([field, type]) => {
    const affinity = type.startsWith('integer') ? 'INTEGER' : 'TEXT';
    return `${columnOf(field)} ${affinity}${type.endsWith('?') ? '' : ' NOT NULL'}`;
  });
  const constraints = [
    `PRIMARY KEY (${columnsOf(key)})`,
    ...unique.map((group) => `UNIQUE (${columnsOf(group)})`),
  ];
  // The table itself is ordered by its key.
  const others = indexes.filter((index) => !index.every((field, at) => key[at] === field));
  return [
    `CREATE TABLE ${name} (\n  ${[...columns, ...constraints].join(',\n  ')}\n) STRICT, WITHOUT ROWID;\n`,
    ...others.map(
      (index) => `CREATE INDEX ${name}_${index.map(columnOf).join('_')} ON ${name} (${columnsOf(index)});\n`,
    ),
  ].join('');
}
