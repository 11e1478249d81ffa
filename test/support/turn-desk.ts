import type { InvokeResult, TurnEnvelope } from '@patchbay/protocol';
import { RelayScene } from './relay-scene.js';
import { startTestServer, type TestServer, type TestUser } from './server.js';

export const MAX_WAIT_MS = 5_000;

/** A server with low limits for turns, and a user who posts them. */
export class TurnDesk {
  server!: TestServer;
  user!: TestUser;
  scene!: RelayScene;

  async start(): Promise<void> {
    const limits = { maxOpenTurns: 3, maxCallsPerTurn: 5, maxWaitMs: MAX_WAIT_MS };
    this.server = await startTestServer({ config: { ...limits, maxExecutionMs: 2_000, executionMs: 1_000 } });
    this.user = await this.server.register();
  }

  /** In a new workspace. */
  async open(): Promise<RelayScene> {
    return (this.scene = await RelayScene.on(this.server, this.user));
  }

  /** Posts under an Idempotency-Key. */
  readonly postAs = (key: string, toolCalls: unknown[], more: Record<string, unknown> = {}) =>
    this.server.request<InvokeResult<TurnEnvelope>>(
      'POST',
      this.scene.base,
      { toolCalls, waitMs: 0, ...more },
      { authorization: `Bearer ${this.user.token}`, 'idempotency-key': key },
    );

  close(): Promise<void> {
    return this.server.close();
  }
}
