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

/** The call of an upload, and the heads that are accepted as base besides the named one. */
interface Part {
  origin: ChangeOrigin;
  bases: (string | null)[];
}

/** Handles `files:put`: determines the call of an upload and its allowed bases. */
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
    await this.commitEarlier(file.callId?.toLowerCase() ?? null);
    const part = file.filePatchId
      ? await this.ofPatch(client, docPath, file.filePatchId.toLowerCase())
      : null;
    const { origin, bases: allowed } = part ?? (await this.ofCall(client, target, file));
    const named = file.baseSha256?.toLowerCase() ?? null;
    // Replacing the last common version loses nothing. An exact client has seen no other head; for others null means
    // that nothing is common.
    const bases = file.isExact ? [named] : named === null ? allowed : [...allowed, named];
    const { isExecutable } = file;
    const upload = {
      target,
      content: { bytes: content, shape: 'text' as const, isExecutable },
      sha256: digest,
    };
    return this.uploads.put(origin, { ...upload, bases });
  }

  /** Commits the client's earlier steps first, so that they precede the upload in the trail. */
  private async commitEarlier(callId: string | null): Promise<void> {
    if (callId === null) return;
    // An event that came just before is still passing through the same steps.
    await setImmediate();
    const turn = this.turns.ofCall(callId);
    if (turn) await this.turns.flush(turn);
  }

  /**
   * The call of a patched file. The base is the Cloud head noted when the batch arrived, or the patch's base, which may
   * be in the Cloud since.
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
   * An upload for another call belongs to it while its turn is open, and is based on the head at acceptance. So the
   * approved content becomes the Cloud's, whatever the disk held. Any other upload is the client's own: without a named
   * base no file may exist.
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
