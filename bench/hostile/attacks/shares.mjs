// Taking more than a share: all the turns of a workspace, all the time of the server, its passwords, its trail.
import { MIB, repeated, times } from '../attack-fixture.mjs';

/** @typedef {import('../attacks.mjs').Attack} Attack */

const create = { name: 'workspace_create_file', arguments: { path: 'src/a.txt', content: 'x' } };
const ofShared = (fixture) => `/workspaces/${fixture.shared}/sessions/${fixture.sharedSession}`;

/** @type {Attack[]} */
export const SHARES = [
  {
    name: 'a member who opens 1,500 turns in the good user’s workspace',
    isQuick: true,
    run: (fixture) => times(1500, () => fixture.turn([create], {}, ofShared(fixture))),
  },
  {
    name: '400 registrations at once',
    isQuick: true,
    run: (fixture) =>
      times(400, (n) =>
        fixture.post(
          '/auth/register',
          { email: `r${n}@example.com`, password: 'a-long-password' },
          { token: null },
        ),
      ),
  },
  {
    name: '400 wrong passwords of the good user at once',
    isQuick: true,
    run: (fixture) =>
      times(400, () =>
        fixture.post(
          '/auth/login',
          { email: 'good@example.com', password: 'not-the-password' },
          { token: null },
        ),
      ),
  },
  {
    name: '3,000 tokens that are none',
    run: (fixture) => times(3000, (n) => fixture.get('/workspaces', { token: `${'e'.repeat(6000)}.${n}.x` })),
  },
  {
    name: '300 turns of 20 greps',
    isQuick: true,
    prepare: (fixture) => fixture.file('t.txt', repeated('some text that is searched\n', 4 * MIB)),
    run: (fixture) =>
      times(300, () =>
        fixture.turn(
          Array.from({ length: 20 }, () => ({
            name: 'grep',
            arguments: { pattern: 't(e|x)+t.*d$', path: '/' },
          })),
        ),
      ),
  },
  {
    name: '200 questions to a trail of 60,000 events that fit nothing',
    isQuick: true,
    async prepare(fixture) {
      const calls = Array.from({ length: 1000 }, () => ({ name: 'nothing', arguments: {} }));
      for (let n = 0; n < 60; n += 1) await fixture.turn(calls);
    },
    run: (fixture) => times(200, () => fixture.get(`${fixture.home}/audit?path=nowhere&limit=500`)),
  },
  {
    name: '200 files in folders 400 deep',
    isQuick: true,
    run: (fixture) =>
      times(200, (n) => fixture.tool('write', { path: `/${n}${'/d'.repeat(400)}`, content: 'x' })),
  },
  {
    name: '2,000 sessions and workspaces',
    async run(fixture) {
      await times(1000, () => fixture.post(`${fixture.home}/sessions`, {}));
      await times(1000, (n) => fixture.post('/workspaces', { name: `w${n}` }));
      await times(20, () => fixture.get('/workspaces'));
    },
  },
  {
    name: '60 contexts of a session with 1,000 Active Files',
    isQuick: true,
    async prepare(fixture) {
      const activeFiles = Array.from({ length: 1000 }, (_, n) => {
        const docPath = `r/${'long'.repeat(100)}/${n}.txt`;
        return { docPath, displayPath: docPath, sha256: 'a'.repeat(64), sizeBytes: 1, isDirty: true };
      });
      await fixture.ask('PUT', `${fixture.home}/sessions/${fixture.session}/active-files`, { activeFiles });
    },
    run: (fixture) => times(60, () => fixture.get(`${fixture.home}/sessions/${fixture.session}/context`)),
  },
];
