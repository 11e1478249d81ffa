import type { Kind, Records } from '../transfer/records.js';
import type { SqliteDatabase } from './database.js';
import { pages } from './pages.js';
import type { SqlValue } from './values.js';
import type { WorkspaceKeys } from './workspace-keys.js';

/** How a field stands in its column, where that is another value. */
interface Codec {
  to: (value: never, workspaces: WorkspaceKeys) => SqlValue;
  from: (stored: never, workspaces: WorkspaceKeys) => unknown;
}

interface Table {
  table: string;
  /** The columns by which it is read, page by page. */
  key: readonly string[];
  /** Fields of a record by their columns; those whose names are the same but for the case are listed alone. */
  fields: readonly (string | readonly [field: string, column: string, codec?: Codec])[];
}

export type SmallKind = keyof typeof SMALL;

const OF_WORKSPACE: [string, string, Codec] = [
  'workspaceId',
  'workspace',
  {
    to: (id: string, workspaces) => workspaces.require(id),
    from: (key: number, workspaces) => workspaces.idOf(key),
  },
];
const HEX: Codec = {
  to: (hex: string) => Buffer.from(hex, 'hex'),
  from: (bytes: Uint8Array) => Buffer.from(bytes).toString('hex'),
};

const JSON_TEXT: Codec = {
  to: (value: unknown) => (value === null ? null : JSON.stringify(value)),
  from: (text: string | null) => (text === null ? null : (JSON.parse(text) as unknown)),
};
/** Has a table of its own. */
const ACTIVE_FILES = `(SELECT files FROM active_files a
  WHERE a.workspace = sessions.workspace AND a.session_id = sessions.session_id)`;

/** Records of which each is a row. */
const SMALL = {
  users: {
    table: 'users',
    key: ['user_id'],
    fields: [['id', 'user_id'], 'email', 'fullName', 'passwordHash', 'createdAt'],
  },
  logins: {
    table: 'logins',
    key: ['login_id'],
    fields: [
      ...[['id', 'login_id'], 'userId', 'familyHash', 'tokenHash', 'previousHash', 'seed', 'rotatedAt'],
      ...['expiresAt', 'createdAt'],
    ] as Table['fields'],
  },
  contracts: { table: 'contracts', key: ['digest'], fields: [['digest', 'digest', HEX], 'contract'] },
  sessions: {
    table: 'sessions',
    key: ['workspace', 'session_id'],
    fields: [
      ...[OF_WORKSPACE, ['id', 'session_id'], 'conversationId', 'userId', 'clientId'],
      ...[['tools', 'tools', JSON_TEXT], 'createdAt', ['activeFiles', ACTIVE_FILES]],
    ] as Table['fields'],
  },
  clients: {
    table: 'clients',
    key: ['id'],
    fields: [
      ...[OF_WORKSPACE, 'userId', 'clientId', 'name', 'epoch', 'connectionId', 'node', 'connectedAt'],
      ...['leftAt', 'until', 'roots', 'statuses'],
    ] as Table['fields'],
  },
  roots: {
    table: 'roots',
    key: ['id'],
    fields: [OF_WORKSPACE, 'docPath', 'name', 'rootId', 'userId', 'claimedAt'],
  },
  keys: {
    table: 'idempotency_keys',
    key: ['workspace', 'user_id', 'key'],
    fields: [OF_WORKSPACE, 'userId', 'key', 'sessionId', 'turnId', 'claimedAt'],
  },
} as const satisfies { readonly [Of in Kind]?: Table };

export function isSmall(kind: Kind): kind is SmallKind {
  return Object.hasOwn(SMALL, kind);
}

/** Every record of a kind. */
export async function* readSmall<Of extends SmallKind>(
  database: SqliteDatabase,
  workspaces: WorkspaceKeys,
  kind: Of,
): AsyncGenerator<Records[Of][]> {
  const { table, key }: Table = SMALL[kind];
  const columns = columnsOf(kind);
  const select = `SELECT ${[...key, ...columns.map(({ column }) => column)].join(', ')} FROM ${table}`;
  for await (const rows of pages(database, select, key, 100))
    yield rows.map((row) => {
      const fields = columns.map(({ field, codec }, at) => {
        const stored = row[key.length + at];
        return [field, codec === undefined ? stored : codec.from(stored as never, workspaces)];
      });
      return Object.fromEntries(fields) as Records[Of];
    });
}

/** Writes a record; inside a job. */
export function writeSmall(
  database: SqliteDatabase,
  workspaces: WorkspaceKeys,
  kind: SmallKind,
  record: object,
): void {
  const columns = columnsOf(kind).filter(({ column }) => column !== ACTIVE_FILES);
  const sql = `INSERT INTO ${SMALL[kind].table} (${columns.map(({ column }) => column).join(', ')})
    VALUES (${columns.map(() => '?').join(', ')})`;
  const values = columns.map(({ field, codec }) => {
    const value = (record as Record<string, SqlValue>)[field];
    return codec === undefined ? value! : codec.to(value as never, workspaces);
  });
  database.run(sql, values);
  if (kind === 'sessions') writeActiveFiles(database, workspaces, record as Records['sessions']);
}

function writeActiveFiles(
  database: SqliteDatabase,
  workspaces: WorkspaceKeys,
  { workspaceId, id, activeFiles }: Records['sessions'],
): void {
  if (activeFiles === null) return;
  const sql = 'INSERT INTO active_files (workspace, session_id, files) VALUES (?, ?, ?)';
  database.run(sql, [workspaces.require(workspaceId), id, activeFiles]);
}

function columnsOf(kind: SmallKind): { field: string; column: string; codec?: Codec | undefined }[] {
  const { fields }: Table = SMALL[kind];
  return fields.map((of) => {
    if (typeof of !== 'string') return { field: of[0], column: of[1], codec: of[2] };
    return { field: of, column: of.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) };
  });
}
