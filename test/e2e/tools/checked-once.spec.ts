import { jest } from '@jest/globals';
import { SchemaCheck } from '../../../src/tools/schema-check.js';
import { suiteFixture } from '../../support/fixtures.js';
import { createCall, RelayFixture } from '../../support/relay-fixture.js';

describe('the arguments of a call', () => {
  const fixture = suiteFixture(() => RelayFixture.start());

  /** How often values were held against a schema meanwhile. */
  async function checksDuring(work: () => Promise<unknown>): Promise<number> {
    const check = jest.spyOn(SchemaCheck.prototype, 'faultsOf');
    await work();
    const { length } = check.mock.calls;
    check.mockRestore();
    return length;
  }
  const direct = (tool: string, args: object) =>
    fixture.user.post(`/workspaces/${fixture.workspaceId}/tools`, { tool, args });

  it('are checked against the contract once when the server runs it', async () => {
    const call = { toolCallId: 'ls', name: 'ls', arguments: { path: '/' } };
    expect(await checksDuring(() => fixture.post([call], { waitMs: 20_000 }))).toBe(1);
    expect(await checksDuring(() => direct('ls', { path: '/' }))).toBe(1);
  });

  it('are checked against the contract once when a client runs it, and so is its result', async () => {
    const client = await fixture.client();
    client.socket.on('tool:call', (call) => void client.report(call));
    expect(await checksDuring(() => fixture.post([createCall('c')], { waitMs: 20_000 }))).toBe(2);
    const args = { path: 'd.txt', content: 'x\n' };
    expect(await checksDuring(() => direct('workspace_create_file', args))).toBe(2);
  });
});
