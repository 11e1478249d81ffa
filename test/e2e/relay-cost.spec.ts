import { SqliteDatabase } from '../../src/storage/sqlite/database.js';
import { describeEmbedded } from '../support/backend.js';
import { createCall, RelayScene } from '../support/relay-scene.js';

describeEmbedded('A relayed call on the embedded store', () => {
  let scene: RelayScene;
  beforeEach(async () => void (scene = await RelayScene.start()));
  afterEach(() => scene.close());

  /** Commits while a turn of so many calls is posted, executed at once by a client and answered. */
  async function commitsOf(count: number): Promise<number> {
    const client = await scene.client();
    client.socket.on('tool:call', (call) => void client.report(call));
    const database = scene.server.app.get(SqliteDatabase, { strict: false });
    const before = database.commits;
    const calls = Array.from({ length: count }, (_, n) => createCall(`c${n}`));
    expect((await scene.post(calls, { waitMs: 5_000 })).status).toBe(200);
    return database.commits - before;
  }

  it('costs two commits: accepted and forwarded, then acknowledged and ended', async () => {
    expect(await commitsOf(1)).toBe(2);
  });

  it('shares them with the calls beside it', async () => {
    expect(await commitsOf(8)).toBeLessThanOrEqual(3);
  });
});
