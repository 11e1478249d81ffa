import type { InvokeResult, TurnResult } from '@patchbay/protocol';
import { RelayFixture } from './relay-fixture.js';
import { oneServer, type TestServer, type TestUser } from './server.js';

export const MAX_WAIT_MS = 5_000;

/** A server with low limits for turns, which all tests of a `describe` share, and a user who posts turns. */
export class TurnFixture {
  user!: TestUser;
  fixture!: RelayFixture;
  private readonly one = oneServer({
    ...{ maxOpenTurns: 3, maxCallsPerTurn: 5, maxWaitMs: MAX_WAIT_MS },
    ...{ maxExecutionMs: 2_000, executionMs: 1_000 },
  });

  get server(): TestServer {
    return this.one();
  }

  /** A new user in a new workspace. */
  async open(): Promise<RelayFixture> {
    this.user = await this.server.register();
    return (this.fixture = await RelayFixture.on(this.server, this.user));
  }

  /** Posts under an Idempotency-Key. */
  readonly postAs = (key: string, toolCalls: unknown[], more: Record<string, unknown> = {}) =>
    this.server.request<InvokeResult<TurnResult>>(
      'POST',
      this.fixture.base,
      { toolCalls, waitMs: 0, ...more },
      { authorization: `Bearer ${this.user.token}`, 'idempotency-key': key },
    );
}
