import type { OpenToolCall, ToolResult, TurnResult, WritePatchResult } from '@patchbay/protocol';
import type { WorkspaceClient } from '@patchbay/client';
import { printableLine } from './approval/printable.js';
import { readableReason, howToRevert } from './readable-reason.js';
import { say } from './say.js';
import { callText, type ClientNames, namesOf, waitText } from './call-wait.js';

/** Most calls that are reported at a time. */
const MAX_REPORTED = 10;

/** Reports to a person, one line per call, what a turn waits for and what became of its calls; each once. */
export class TurnReporter {
  private readonly reported = new Map<string, string>();
  private names: ClientNames = new Map();
  /** clientIds that the server was asked about. */
  private readonly asked = new Set<string>();
  private calls = new Map<string, OpenToolCall>();

  constructor(
    private readonly workspace: Pick<WorkspaceClient, 'clients'>,
    private readonly stream: NodeJS.WritableStream,
  ) {}

  async report({ toolCalls, toolResults }: Pick<TurnResult, 'toolCalls' | 'toolResults'>): Promise<void> {
    await this.learnNames(toolCalls);
    const open = toolCalls.filter((call) => this.isNews(call.callId, `${call.status} ${call.clientId}`));
    const ended = toolResults.filter(({ callId, status }) => this.isNews(callId, status));
    for (const call of toolCalls) this.calls.set(call.callId, call);
    const lines = [
      ...ended.map((result) => this.endOf(result)),
      ...open.map((call) => `… ${callText(call)} ${waitText(call, this.names)}`),
    ];
    for (const line of lines.slice(0, MAX_REPORTED)) say(this.stream, line);
    if (lines.length > MAX_REPORTED) say(this.stream, `  and ${lines.length - MAX_REPORTED} more calls`);
  }

  private isNews(callId: string, state: string): boolean {
    if (this.reported.get(callId) === state) return false;
    this.reported.set(callId, state);
    return true;
  }

  private endOf(result: ToolResult): string {
    const call = callText(this.calls.get(result.callId) ?? result);
    const why = readableReason(result.error?.message ?? '', result.error?.code);
    const ended =
      result.status === 'succeeded'
        ? `✓ ${call}`
        : `✗ ${call} ${printableLine(result.status.replace('_', ' '))}: ${why}`;
    return [ended, ...revertOf(result)].join('\n');
  }

  /** Names are optional: without one the clientId is shown. */
  private async learnNames(calls: readonly OpenToolCall[]): Promise<void> {
    const unknown = calls.flatMap(({ clientId }) =>
      clientId === null || this.asked.has(clientId) ? [] : [clientId],
    );
    if (unknown.length === 0) return;
    for (const clientId of unknown) this.asked.add(clientId);
    this.names = await this.workspace.clients().then(namesOf, () => this.names);
  }
}

/** For a patch that changed something: how to revert it. */
function revertOf({ result }: ToolResult): string[] {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return [];
  const { batchId, files } = result as Partial<WritePatchResult>;
  const isApplied = Array.isArray(files) && files.some((file) => file?.status === 'applied');
  return isApplied ? [`  ${howToRevert(String(batchId))}`] : [];
}
