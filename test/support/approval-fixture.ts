import { CLOUD_CHANGES, type ToolCallDelivery } from '@patchbay/protocol';
import type { FakeClient, FakeClientOptions } from './fake-client.js';
import { RelayFixture } from './relay-fixture.js';
import type { TestServer } from './server.js';

/** A call as an orchestrator posts it. */
export const call = (toolCallId: string, name: string, args: object): Record<string, unknown> => ({
  ...{ toolCallId, name, arguments: args },
});
export const write = (toolCallId: string, path: string, content = toolCallId): Record<string, unknown> =>
  call(toolCallId, 'write', { path, content: { text: content } });
export const read = (toolCallId: string, path: string): Record<string, unknown> =>
  call(toolCallId, 'read', { path });

const ASKED = { by: 'ada', at: '2025-06-01T12:00:00Z' };
/** What a client reports of a decision. */
export const decided = (decision: string, more: object = {}): Record<string, unknown> => ({
  result: null,
  approval: { decision, ...ASKED, ...more },
});

/** A workspace that asks for approval of every tool that changes the Cloud. */
export async function askingFixture(server: TestServer): Promise<RelayFixture> {
  const fixture = await RelayFixture.on(server, await server.register());
  await ask(fixture, [...CLOUD_CHANGES]);
  return fixture;
}

/** From now on the workspace asks for approval of these tools. */
export async function ask({ user, workspaceId }: RelayFixture, approvals: string[]): Promise<void> {
  const { status } = await user.request('PUT', `/workspaces/${workspaceId}`, { approvals });
  if (status !== 200) throw new Error(`PUT approvals: ${status}`);
}

/** A client of the fixture that can ask about all of them. */
export function asker(
  fixture: RelayFixture,
  change: Partial<FakeClientOptions> = {},
  journal: Parameters<RelayFixture['client']>[1] = [],
): Promise<FakeClient> {
  return fixture.client({ tools: [...CLOUD_CHANGES], ...change }, journal);
}

/** `id status` of each of the turn's calls, as it stands. */
export async function standing(fixture: RelayFixture, turnId: string, waitMs = 0): Promise<string[]> {
  const calls = await fixture.calls(turnId, waitMs);
  return Object.entries(calls)
    .map(([id, { status }]) => `${id} ${status}`)
    .sort();
}

/** The delivery of a call by the orchestrator's id of it. */
export function deliveredAs(client: FakeClient, toolCallId: string): ToolCallDelivery {
  return client.calls.find((delivered) => delivered.toolCallId === toolCallId)!;
}
