import type { InvokeResult, TurnResult } from '@patchbay/protocol';
import { RelayFixture } from './relay-fixture.js';
import { startTestServer, type TestServer, type TestUser } from './server.js';

export const MAX_WAIT_MS = 5_000;

/** A server with low limits for turns, and a user who posts them. */
export class TurnFixture {
  server!: TestServer;
  user!: TestUser;
  fixture!: RelayFixture;

  async start(): Promise<void> {
    const limits = { maxOpenTurns: 3, maxCallsPerTurn: 5, maxWaitMs: MAX_WAIT_MS };
    this.server = await startTestServer({ config: { ...limits, maxExecutionMs: 2_000, executionMs: 1_000 } });
    this.user = await this.server.register();
  }

  /** In a new workspace. */
  async open(): Promise<RelayFixture> {
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

  close(): Promise<void> {
    return this.server.close();
  }
}
