import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Session } from '@patchbay/protocol';
import { describeOnOwnMongo, OwnMongo } from '../support/own-mongo.js';
import { checkInvariants, readTrail } from '../support/invariants.js';
import { freePort, ServerProcess } from '../support/processes.js';
import { type Answer, registerUser, type TestUser } from '../support/test-user.js';
import { waitFor } from '../support/wait-for.js';

import.meta.jest.setTimeout(180_000);

const WORKERS = 6;
const SOME = 12;

/** Posts turns, several at once, until it is told to stop. */
class Load {
  readonly acknowledged: string[] = [];
  readonly refused: Answer[] = [];
  private stopped = false;
  private readonly workers: Promise<void>[];

  constructor(
    private readonly user: TestUser,
    private readonly turns: string,
  ) {
    this.workers = Array.from({ length: WORKERS }, (_, worker) => this.work(worker));
  }

  /** Resolves once every request has ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.workers);
  }

  private async work(worker: number): Promise<void> {
    for (let count = 0; !this.stopped; count += 1) {
      const turnId = `t-${worker}-${count}`;
      const call = { toolCallId: turnId, name: 'workspace_create_file' };
      const toolCalls = [{ ...call, arguments: { path: `${turnId}.txt`, content: 'text\n' } }];
      const answer = await this.user.post(this.turns, { turnId, toolCalls, waitMs: 0 });
      if (answer.status === 202) this.acknowledged.push(turnId);
      else this.refused.push(answer);
    }
  }
}

describeOnOwnMongo('On MongoDB', () => {
  describe.each(['secantus', 'javaserver-h2'] as const)('a database (%s) that is killed', (kind) => {
    let mongo: OwnMongo;
    let dataDir: string;
    let server: ServerProcess;

    beforeAll(async () => {
      mongo = await OwnMongo.start(kind);
      dataDir = await mkdtemp(join(tmpdir(), 'patchbay-outage-'));
      server = await ServerProcess.start(dataDir, await freePort(), {
        PATCHBAY_MONGODB_URI: mongo.uri,
        PATCHBAY_JWT_SECRET: 'a secret of this test, long enough for whoever checks its length',
      });
    });
    afterAll(async () => {
      server.signal('SIGTERM');
      await server.exited;
      await mongo.close();
      await rm(dataDir, { recursive: true });
    });

    const readiness = async () => {
      const response = await fetch(`${server.url}/health/ready`);
      return { status: response.status, text: await response.text() };
    };

    it('an outage under load makes the server reject requests; it loses nothing and recovers by itself', async () => {
      const user = await registerUser(server);
      const workspaceId = (await user.createWorkspace()).id;
      const { sessionId } = (await user.post<Session>(`/workspaces/${workspaceId}/sessions`, {})).body;
      const turns = `/workspaces/${workspaceId}/sessions/${sessionId}/turns`;
      const load = new Load(user, turns);
      try {
        await waitFor(() => load.acknowledged.length >= SOME, 'turns to be acknowledged', 60_000);
        await mongo.kill();
        await waitFor(() => load.refused.length >= WORKERS, 'requests to be refused', 60_000);
        const away = await readiness();
        expect(away).toMatchObject({
          status: 503,
          text: expect.stringContaining('"storage":"failed"') as string,
        });
        await mongo.start();
        await waitFor(async () => (await readiness()).status === 200, 'the server to be ready', 60_000);
        const before = load.acknowledged.length;
        await waitFor(
          () => load.acknowledged.length >= before + SOME,
          'more turns to be acknowledged',
          60_000,
        );
      } finally {
        await load.stop();
      }

      for (const { status, headers, body } of load.refused) {
        expect([status, headers.get('retry-after'), body]).toEqual([
          503,
          '5',
          expect.objectContaining({ code: 'UNAVAILABLE' }),
        ]);
      }
      for (const turnId of load.acknowledged) expect((await user.get(`${turns}/${turnId}`)).status).toBe(202);
      const trail = await readTrail(user, workspaceId);
      expect(trail.map(({ seq }) => seq)).toEqual(trail.map((_, at) => at + 1));
      const accepted = trail.filter(({ name }) => name === 'Turn.Accepted').map(({ turnId }) => turnId);
      expect(new Set(accepted).size).toBe(accepted.length);
      expect(load.acknowledged.filter((turnId) => !accepted.includes(turnId))).toEqual([]);
      await checkInvariants(user, workspaceId);
    });
  });
});
