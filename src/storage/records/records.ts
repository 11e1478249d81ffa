import { ContractStore } from './contracts.js';
import type { Table } from './declaration.js';
import { LoginStore } from './logins.js';

/** The ports of small records, each with its declarations. */
export const RECORD_PORTS = [ContractStore, LoginStore] as const;

/** Every declaration: a table, or a collection. */
export const RECORDS: readonly Table[] = RECORD_PORTS.flatMap<Table>(({ declarations }) => declarations);
