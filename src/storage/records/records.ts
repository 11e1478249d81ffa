import { ClientStore } from './clients.js';
import { ContractStore } from './contracts.js';
import type { Table } from './declaration.js';
import { FileRequestStore } from './file-requests.js';
import { IdempotencyKeyStore } from './idempotency-keys.js';
import { LoginStore } from './logins.js';
import { RootStore } from './roots.js';
import { SessionStore } from './sessions.js';
import { UserStore } from './users.js';

/** The ports of small records, each with its declarations. */
export const RECORD_PORTS = [
  ClientStore,
  ContractStore,
  FileRequestStore,
  IdempotencyKeyStore,
  LoginStore,
  RootStore,
  SessionStore,
  UserStore,
] as const;

/** Every declaration: a table, or a collection. */
export const RECORDS: readonly Table[] = RECORD_PORTS.flatMap<Table>(({ declarations }) => declarations);
