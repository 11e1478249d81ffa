import type { OpenToolCall, ToolResult, TurnEnvelope, WritePatchResult } from '@patchbay/protocol';
import type { WorkspaceClient } from '@patchbay/client';
import { printableLine } from './approval/printable.js';
import { forPeople, howToRevert } from './for-people.js';
import { say } from './say.js';
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
    for (const line of lines.slice(0, TOLD)) say(this.stream, line);
    if (lines.length > TOLD) say(this.stream, `  and ${lines.length - TOLD} more calls`);
  }

  private isNews(callId: string, state: string): boolean {
    if (this.told.get(callId) === state) return false;
    this.told.set(callId, state);
    return true;
  }

  private endOf(result: ToolResult): string {
    const call = callText(this.calls.get(result.callId) ?? result);
    const why = forPeople(result.error?.message ?? '', result.error?.code);
    const ended =
      result.status === 'succeeded'
        ? `✓ ${call}`
        : `✗ ${call} ${printableLine(result.status.replace('_', ' '))}: ${why}`;
    return [ended, ...revertOf(result)].join('\n');
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

/** Of a patch that changed something: how to take it back. */
function revertOf({ result }: ToolResult): string[] {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return [];
  const { batchId, files } = result as Partial<WritePatchResult>;
  const isApplied = Array.isArray(files) && files.some((file) => file?.status === 'applied');
  return isApplied ? [`  ${howToRevert(String(batchId))}`] : [];
}
