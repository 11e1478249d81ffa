import { dropDatabases } from './drop-databases.mjs';
import { leaveMemory } from './temp-directory.mjs';

/** Runs once after all specs. */
export default async function afterAll() {
  try {
    await dropDatabases();
  } finally {
    leaveMemory();
  }
}
