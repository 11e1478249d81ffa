import { type FakeClient, journalEntry } from './fake-client.js';
import { type RelayFixture } from './relay-fixture.js';

/** A client as ours is: it executes when the server has said running, journals, reports until it is told, and moves about. */
export class Editor {
  /** How often each call was executed, by any client. */
  static readonly effects = new Map<string, number>();
  private readonly journal = new Map<string, ReturnType<typeof journalEntry>>();
  private client!: FakeClient;
  private at = 0;

  private constructor(
    private readonly fixtures: readonly RelayFixture[],
    private readonly clientId: string,
    private readonly random: () => number,
  ) {}

  static async open(
    fixture: RelayFixture,
    fixtures: readonly RelayFixture[],
    clientId: string,
    random: () => number,
  ): Promise<Editor> {
    const editor = new Editor(fixtures, clientId, random);
    editor.at = fixtures.indexOf(fixture);
    await editor.connect();
    return editor;
  }

  /** Leaves one node for the other, in the middle of whatever it does. */
  async move(): Promise<void> {
    this.client.close();
    this.at = 1 - this.at;
    await this.connect();
  }

  close(): void {
    this.client.close();
  }

  private async connect(): Promise<void> {
    const fixture = this.fixtures[this.at]!;
    const client = await fixture.client({ clientId: this.clientId }, [...this.journal.values()]);
    this.client = client;
    client.socket.on('tool:call', (call) => {
      if (this.journal.has(call.callId)) return;
      this.journal.set(call.callId, journalEntry(call, 'acknowledged'));
      setTimeout(() => void this.execute(client, call).catch(() => undefined), this.random() * 40);
    });
    for (const entry of [...this.journal.values()]) {
      const call = { ...entry, arguments: { path: 'x' } } as unknown as Parameters<FakeClient['report']>[0];
      void this.execute(client, call).catch(() => undefined);
    }
  }

  private async execute(client: FakeClient, call: Parameters<FakeClient['report']>[0]): Promise<void> {
    const entry = this.journal.get(call.callId);
    if (entry?.state === 'acknowledged') {
      const answer = await client.status(call, 'running');
      if (!answer.ok) return void this.journal.delete(call.callId);
      // Two runs of one call wait for the same answer: the first goes on.
      if (this.journal.get(call.callId)?.state !== 'acknowledged') return;
      this.journal.set(call.callId, { ...entry, state: 'running' });
      Editor.effects.set(call.callId, (Editor.effects.get(call.callId) ?? 0) + 1);
    }
    const answer = await client.report(call);
    if (answer.ok || answer.error.code !== 'NOT_FOUND') this.journal.delete(call.callId);
  }
}
