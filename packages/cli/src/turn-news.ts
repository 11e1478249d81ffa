import type { OpenToolCall, ToolResult, TurnEnvelope } from '@patchbay/protocol';
import type { WorkspaceClient } from '@patchbay/client';
import { printableLine } from './approval/printable.js';
import { callText, type ClientNames, namesOf, waitOf } from './call-wait.js';

/** Most calls that are told of at a time. */
const TOLD = 10;

/** Tells a person, a line a call, what a turn waits for, and what has become of its calls; each once. */
export class TurnNews {
  private readonly told = new Map<string, string>();
  private names: ClientNames = new Map();
  /** clientIds that the server was asked about. */
  private readonly asked = new Set<string>();
  private calls = new Map<string, OpenToolCall>();

  constructor(
    private readonly workspace: Pick<WorkspaceClient, 'clients'>,
    private readonly stream: NodeJS.WritableStream,
  ) {}

  async tell({ toolCalls, toolResults }: Pick<TurnEnvelope, 'toolCalls' | 'toolResults'>): Promise<void> {
    await this.learnNames(toolCalls);
    const open = toolCalls.filter((call) => this.isNews(call.callId, `${call.status} ${call.clientId}`));
    const ended = toolResults.filter(({ callId, status }) => this.isNews(callId, status));
    for (const call of toolCalls) this.calls.set(call.callId, call);
    const lines = [
      ...ended.map((result) => this.endOf(result)),
      ...open.map((call) => `… ${callText(call)} ${waitOf(call, this.names)}`),
    ];
    for (const line of lines.slice(0, TOLD)) this.stream.write(`${line}\n`);
    if (lines.length > TOLD) this.stream.write(`  and ${lines.length - TOLD} more calls\n`);
  }

  private isNews(callId: string, state: string): boolean {
    if (this.told.get(callId) === state) return false;
    this.told.set(callId, state);
    return true;
  }

  private endOf(result: ToolResult): string {
    const call = callText(this.calls.get(result.callId) ?? result);
    if (result.status === 'succeeded') return `✓ ${call}`;
    return `✗ ${call} ${result.status.replace('_', ' ')}: ${printableLine(result.error?.message ?? '')}`;
  }

  /** A name is no more than a help: without it the clientId is shown. */
  private async learnNames(calls: readonly OpenToolCall[]): Promise<void> {
    const unknown = calls.flatMap(({ clientId }) =>
      clientId === null || this.asked.has(clientId) ? [] : [clientId],
    );
    if (unknown.length === 0) return;
    for (const clientId of unknown) this.asked.add(clientId);
    this.names = await this.workspace.clients().then(namesOf, () => this.names);
  }
}
