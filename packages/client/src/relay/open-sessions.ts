import type { Ack, ActiveFile } from '@patchbay/protocol';
import { messageOf } from '../http/patchbay-error.js';

/** Sessions that are told; of more than that the oldest are not told again. */
const MAX_SESSIONS = 1_000;

type Tell = (sessionId: string, activeFiles: ActiveFile[]) => Promise<Ack>;

/** The sessions that want to know what is open in the editor, each told of it when it begins and when it changes. */
export class OpenSessions {
  private readonly known = new Set<string>();

  constructor(
    private readonly activeFiles: (() => ActiveFile[] | Promise<ActiveFile[]>) | undefined,
    private readonly tell: Tell,
    private readonly warn: (message: string) => void,
  ) {}

  /** Told of a session, of an old one once more with each connection. */
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
      for (const answer of await Promise.all(sessionIds.map((sessionId) => this.tell(sessionId, files)))) {
        if (!answer.ok) this.warn(`The server did not accept the open files: ${answer.error.message}`);
      }
    } catch (error) {
      this.warn(`The open files could not be sent: ${messageOf(error)}`);
    }
  }
}
