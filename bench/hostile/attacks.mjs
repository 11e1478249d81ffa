// Everything that is tried. `isQuick`: it takes seconds, so it is tried whenever the project is checked.
import { BODIES } from './attacks/bodies.mjs';
import { CONNECTIONS } from './attacks/connections.mjs';
import { LOOP } from './attacks/loop.mjs';
import { RESULTS } from './attacks/results.mjs';
import { SCHEMAS } from './attacks/schemas.mjs';
import { SHARES } from './attacks/shares.mjs';
import { TEXTS } from './attacks/texts.mjs';

/**
 * @typedef {import('./attack-fixture.mjs').AttackFixture} Fixture
 * @typedef {{ name: string, isQuick?: boolean, server?: { stdout?: string, logLevel?: string }, prepare?(fixture: Fixture): Promise<any>, run(fixture: Fixture, prepared: any): Promise<any> }} Attack
 */

/** @type {Attack[]} */
export const ATTACKS = [
  { name: 'nothing at all', isQuick: true, run: () => new Promise((resolve) => setTimeout(resolve, 3_000)) },
  ...BODIES,
  ...TEXTS,
  ...RESULTS,
  ...CONNECTIONS,
  ...SCHEMAS,
  ...SHARES,
  ...LOOP,
];
