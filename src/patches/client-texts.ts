import { Injectable } from '@nestjs/common';
import { ClientFiles } from '../clients/client-files.js';
import { Config } from '../config/config.js';
import type { SessionRecord } from '../storage/records/sessions.js';
import { TurnStore } from '../storage/ports/turns.store.js';

/** Reads the base texts that clients hold and the server does not. */
@Injectable()
export class ClientTexts {
  constructor(
    private readonly clients: ClientFiles,
    private readonly turns: TurnStore,
    private readonly config: Config,
  ) {}

  /** The file's bytes if a client of the session holds them now with this sha256; else null. */
  async held(
    { workspaceId, userId, id, clientId: boundClientId }: SessionRecord,
    docPath: string,
    sha256: string,
    activeSha256: string | null,
  ): Promise<Uint8Array | null> {
    const use = await this.turns.lastUseOf(workspaceId, id);
    const reading = await this.clients.read({
      ...{ workspaceId, userId, docPath, boundClientId, activeSha256 },
      lastClientId: use?.lastClientId ?? null,
      maxBytes: this.config.maxFileBytes,
    });
    return reading.kind === 'given' && reading.sha256 === sha256 ? reading.content : null;
  }
}
