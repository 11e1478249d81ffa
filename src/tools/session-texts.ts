import { Injectable } from '@nestjs/common';
import type { ActiveFile } from '@patchbay/protocol';
import { ClientFiles } from '../clients/client-files.js';
import type { FileReading } from '../clients/file-reading.js';
import { Config } from '../config/config.js';
import { SessionStore } from '../storage/records/sessions.js';
import { TurnStore } from '../storage/ports/turns.store.js';
import type { ToolContext } from './tool.js';

/** Identifies the clients to ask. */
export type TextsOf = Pick<ToolContext, 'workspaceId' | 'userId' | 'sessionId'>;

/** What a session's clients hold of its files now: open buffers, else their disks. */
@Injectable()
export class SessionTexts {
  constructor(
    private readonly clients: ClientFiles,
    private readonly sessions: SessionStore,
    private readonly turns: TurnStore,
    private readonly config: Config,
  ) {}

  /** The file as open in the session (`active`); null: as on disk in a connected folder. */
  async read(
    { workspaceId, userId, sessionId }: TextsOf,
    docPath: string,
    active: ActiveFile | null,
    maxBytes = this.config.maxFileBytes,
  ): Promise<FileReading> {
    const [session, use] = await Promise.all([
      this.sessions.byId(workspaceId, sessionId),
      this.turns.lastUseOf(workspaceId, sessionId),
    ]);
    return this.clients.read({
      ...{
        workspaceId,
        userId,
        docPath,
        lastClientId: use?.lastClientId ?? null,
        activeSha256: active?.sha256 ?? null,
      },
      ...{ maxBytes: Math.min(maxBytes, this.config.maxFileBytes), boundClientId: session?.clientId ?? null },
    });
  }
}

/** Why a client gave nothing, as half a sentence. Client texts are quoted as data. */
export function reasonOf(reading: FileReading): string {
  if (reading.kind === 'nobody') return 'no such client is connected';
  if (reading.kind !== 'refused') return 'it did not answer';
  const quoted = reading.message === '' ? '' : `, ${JSON.stringify(reading.message)}`;
  return `it refuses (${reading.code}${quoted})`;
}
