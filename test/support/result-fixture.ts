import { type ToolCallDelivery } from '@patchbay/protocol';
import { createdResult, type FakeClient } from './fake-client.js';
import { createCall, RelayFixture } from './relay-fixture.js';
import { type TestServer, type TestUser } from './server.js';

export const APPROVAL = { decision: 'allow', by: 'ada', at: '2025-06-01T12:00:00Z' };
export const refused = (code: string, message: unknown = expect.any(String)) => ({
  ok: false,
  error: { code, message },
});
export const result = createdResult({ arguments: { path: 'c.txt' } });

/** A client that has acknowledged the call `c` of a turn. */
export class ResultFixture {
  user!: TestUser;
  fixture!: RelayFixture;
  client!: FakeClient;
  call!: ToolCallDelivery;

  /** @param server of all tests that it is for. */
  constructor(private readonly server: () => TestServer) {}

  async open(): Promise<RelayFixture> {
    this.user = await this.server().register();
    this.fixture = await RelayFixture.on(this.server(), this.user);
    this.client = await this.fixture.client();
    const { turnId } = (await this.fixture.post([createCall('c')])).body.result;
    this.call = await this.client.delivery();
    await this.fixture.untilCall(turnId, 'c', 'acknowledged');
    return this.fixture;
  }

  /** The call as its turn has it. */
  readonly ended = async () => (await this.fixture.calls(this.call.turnId)).c;
}
