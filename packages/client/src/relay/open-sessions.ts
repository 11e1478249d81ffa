import type { Ack, ActiveFile } from '@patchbay/protocol';
import { messageOf } from '../http/patchbay-error.js';

/** Only the newest sessions are updated. */
const MAX_SESSIONS = 1_000;

type SendActiveFiles = (sessionId: string, activeFiles: ActiveFile[]) => Promise<Ack>;

/** The sessions to which the list of open files is sent: when one begins, and when the list changes. */
export class OpenSessions {
  private readonly known = new Set<string>();

  constructor(
    private readonly activeFiles: (() => ActiveFile[] | Promise<ActiveFile[]>) | undefined,
    private readonly sendActiveFiles: SendActiveFiles,
    private readonly warn: (message: string) => void,
  ) {}

  /** Called when a session opens, and for open sessions again after each connect. */
  async opened(sessionId: string): Promise<void> {
    if (!this.activeFiles) return;
    this.known.delete(sessionId);
    this.known.add(sessionId);
    const [oldest] = this.known;
    if (this.known.size > MAX_SESSIONS) this.known.delete(oldest!);
    await this.send([sessionId]);
  }

  async changed(): Promise<void> {
    await this.send([...this.known]);
  }

  private async send(sessionIds: readonly string[]): Promise<void> {
    try {
      const files = await this.activeFiles?.();
      if (!files) return;
      for (const answer of await Promise.all(
        sessionIds.map((sessionId) => this.sendActiveFiles(sessionId, files)),
      )) {
        if (!answer.ok) this.warn(`The open files were rejected: ${answer.error.message}`);
      }
    } catch (error) {
      this.warn(`The open files could not be sent: ${messageOf(error)}`);
    }
  }
}
