import { SqliteDatabase } from '../../src/storage/sqlite/database.js';
import { describeEmbedded } from '../support/backend.js';
import { testFixture } from '../support/fixtures.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';

describeEmbedded('A relayed call on the embedded store', () => {
  const fixture = testFixture(() => RelayFixture.start());

  /** Commits while a turn of so many calls is posted, executed at once by a client and answered. */
  async function commitsOf(count: number): Promise<number> {
    const client = await fixture.client();
    client.socket.on('tool:call', (call) => void client.report(call));
    const database = fixture.server.app.get(SqliteDatabase, { strict: false });
    const before = database.commits;
    const calls = Array.from({ length: count }, (_, n) => createCall(`c${n}`));
    expect((await fixture.post(calls, { waitMs: 20_000 })).status).toBe(200);
    return database.commits - before;
  }

  it('costs two commits: accepted and forwarded, then acknowledged and ended', async () => {
    expect(await commitsOf(1)).toBe(2);
  });

  it('shares these commits with concurrent calls', async () => {
    expect(await commitsOf(8)).toBeLessThanOrEqual(3);
  });
});
