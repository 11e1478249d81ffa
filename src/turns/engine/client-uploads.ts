import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { FilePut, FilePutAnswer } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { DomainError, fieldError } from '../../common/domain-error.js';
import type { ChangeOrigin } from '../../files/change-origin.js';
import { type CloudPath, readCloudPath } from '../../files/cloud-path.js';
import { UploadsService } from '../../files/uploads.service.js';
import { PatchesService } from '../../patches/patches.service.js';
import { callOf } from '../../storage/ports/turn-calls.js';
import { OpenTurns } from './open-turns.js';
import type { ClientKey } from '../../clients/connected-clients.js';

/** What an upload belongs to, and the heads that the server takes for its base beside the one that the client names. */
interface Part {
  origin: ChangeOrigin;
  bases: (string | null)[];
}

/** Takes `files:put` from clients: says what an upload is part of, and what it must be based on. */
@Injectable()
export class ClientUploads {
  constructor(
    private readonly uploads: UploadsService,
    private readonly patches: PatchesService,
    private readonly turns: OpenTurns,
  ) {}

  async put(client: ClientKey, file: FilePut): Promise<FilePutAnswer> {
    const { docPath, content } = file;
    const digest = file.sha256.toLowerCase();
    if (sha256(content) !== digest) throw fieldError('sha256', 'is not that of content');
    const target = readCloudPath(file.path);
    if (target.docPath !== docPath) {
      throw fieldError('docPath', `must be that of path: "${target.docPath}"`);
    }
    await this.untilTold(file.callId?.toLowerCase() ?? null);
    const part = file.filePatchId
      ? await this.ofPatch(client, docPath, file.filePatchId.toLowerCase())
      : null;
    const { origin, bases: allowed } = part ?? (await this.ofCall(client, target, file));
    const named = file.baseSha256?.toLowerCase() ?? null;
    // What the folder last had in common with the Cloud is no loss to anybody. A client that keeps that has seen no other
    // head; of one that does not, null tells of nothing in common.
    const bases = file.isExact ? [named] : named === null ? allowed : [...allowed, named];
    const { isExecutable } = file;
    const upload = {
      target,
      content: { bytes: content, shape: 'text' as const, isExecutable },
      sha256: digest,
    };
    return this.uploads.put(origin, { ...upload, bases });
  }

  /** What the client has done before it sent the file stands before it in the trail. */
  private async untilTold(callId: string | null): Promise<void> {
    if (callId === null) return;
    // What came just before is still on its way through the same steps as this one.
    await setImmediate();
    const turn = this.turns.ofCall(callId);
    if (turn) await this.turns.flush(turn);
  }

  /**
   * What a patched file belongs to. Its base is the Cloud head that the server noted when it took the batch, or what the
   * patch was planned on: that may have come into the Cloud since.
   */
  private async ofPatch(client: ClientKey, docPath: string, filePatchId: string): Promise<Part> {
    const known = await this.patches.ofFilePatch(client.workspaceId, filePatchId);
    const at = known?.record.batch.files.findIndex((file) => file.filePatchId === filePatchId) ?? -1;
    if (
      !known ||
      known.record.userId !== client.userId ||
      known.record.batch.files[at]!.docPath !== docPath
    ) {
      throw new DomainError('NOT_FOUND', 'There is no such file patch for this client.');
    }
    const { record, outcome } = known;
    const { batchId, callId } = record;
    const origin: ChangeOrigin = {
      ...{
        workspaceId: client.workspaceId,
        userId: client.userId,
        clientId: client.clientId,
        source: 'patch',
      },
      ...{ toolName: outcome.call.name, sessionId: record.sessionId, conversationId: outcome.conversationId },
      ...{ turnId: record.turnId, toolCallId: outcome.call.toolCallId, callId, batchId, filePatchId },
    };
    const noted = record.bases[at]?.sha256 ?? null;
    return { origin, bases: [noted, record.batch.files[at]!.originalSha256] };
  }

  /**
   * An upload for another call is told as part of it while that call's turn is open, and based on the head that there
   * was when the turn was accepted: what the person approved then becomes the Cloud's, whatever the disk held before.
   * Any other is the client's own: without a base that it names there must be no file.
   */
  private async ofCall(
    { workspaceId, userId, clientId }: ClientKey,
    target: CloudPath,
    { callId: given, baseSha256: named }: FilePut,
  ): Promise<Part> {
    const callId = given?.toLowerCase() ?? null;
    const turn = callId === null ? null : this.turns.ofCall(callId);
    const own = turn?.workspaceId === workspaceId && turn.userId === userId ? turn : null;
    const call = callId === null ? undefined : callOf(own, callId);
    const origin: ChangeOrigin = {
      ...{ workspaceId, userId, clientId, source: 'upload', toolName: call?.name ?? null },
      ...{ sessionId: own?.sessionId ?? null, conversationId: own?.conversationId ?? null },
      ...{ turnId: own?.turnId ?? null, toolCallId: call?.toolCallId ?? null, callId: call?.callId ?? null },
      ...{ batchId: null, filePatchId: null },
    };
    if (own) return { origin, bases: [await this.uploads.headAt(workspaceId, target, own.acceptedAt)] };
    return { origin, bases: named === null ? [null] : [] };
  }
}
