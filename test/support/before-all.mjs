import { announceBackends } from './announce-backends.mjs';
import { useMemory } from './temp-directory.mjs';

/** Runs once before all specs. */
export default async function beforeAll() {
  useMemory();
  await announceBackends();
}
