import { Injectable } from '@nestjs/common';
import type { ActiveFile } from '@patchbay/protocol';
import type { FileReading } from '../clients/file-reading.js';
import type { CloudPath } from '../files/cloud-path.js';
import { FilesService } from '../files/files.service.js';
import { SessionsService } from '../sessions/sessions.service.js';
import type { FileRecord } from '../storage/ports/files.store.js';
import { SessionTexts, type TextsOf, reasonOf } from './session-texts.js';

/** The source and metadata of a file's current text; the bytes are read on demand. */
export interface NewestText {
  kind: 'text';
  path: string;
  sizeBytes: number;
  bytes: () => Promise<Uint8Array>;
  sha256: string;
  source: 'active' | 'disk' | 'cloud';
  isDirty: boolean;
  warnings: string[];
}

/** An open file whose editor does not return its text, and which is not in the Cloud. */
export interface OutOfReach {
  kind: 'out_of_reach';
  active: ActiveFile;
  reason: string;
}

/** Finds the current text of a file: the editor's, else the disk's, else the Cloud's [TOOL-1]. */
@Injectable()
export class NewestTexts {
  constructor(
    private readonly files: FilesService,
    private readonly sessions: SessionsService,
    private readonly texts: SessionTexts,
  ) {}

  /** NOT_FOUND if nobody has the file, VALIDATION_ERROR if it is a folder. */
  async find(client: TextsOf, target: CloudPath, field: string): Promise<NewestText | OutOfReach> {
    const { docPath } = target;
    const active = await this.activeFile(client, docPath);
    const isFile = docPath !== '' && !target.namesFolder;
    const reading = isFile ? await this.texts.read(client, docPath, active) : NOBODY;
    const entry = isFile ? await this.files.at(client.workspaceId, target) : null;
    const head = entry?.kind === 'file' ? entry : null;
    if (reading.kind === 'given') return fromClient(target, reading, head);
    if (active !== null && head === null) return { kind: 'out_of_reach', active, reason: reasonOf(reading) };
    const file = await this.files.requireFile(client.workspaceId, target, field);
    const { sha256, sizeBytes } = file.head;
    const bytes = () => this.files.bytesOf(client.workspaceId, file.head);
    const warnings = cloudWarnings(reading, active, sha256);
    return {
      ...{ kind: 'text', path: file.path, sizeBytes, bytes, sha256 },
      ...{ source: 'cloud', isDirty: false, warnings },
    };
  }

  /** The session's Active file; null if it is not open. */
  async activeFile({ workspaceId, sessionId }: TextsOf, docPath: string): Promise<ActiveFile | null> {
    const active = await this.sessions.activeFiles(workspaceId, sessionId);
    return active.find((file) => file.docPath === docPath) ?? null;
  }
}

const NOBODY: FileReading = { kind: 'nobody' };

function fromClient(
  { path }: CloudPath,
  { content, sha256, isDirty, source }: Extract<FileReading, { kind: 'given' }>,
  file: FileRecord | null,
): NewestText {
  const warnings = differences(sha256, source, file);
  return {
    ...{ kind: 'text', path: file?.path ?? path, sizeBytes: content.length, sha256 },
    ...{ bytes: () => Promise.resolve(content), source, isDirty, warnings },
  };
}

function differences(sha256: string, source: 'active' | 'disk', file: FileRecord | null): string[] {
  if (file === null) return ['The Cloud does not have this file.'];
  const { head } = file;
  if (head.sha256 === sha256) return [];
  const other = `The Cloud has a different text of this file (sha256 ${head.sha256})`;
  return source === 'active'
    ? [`${other}, which the editor does not have. Base patches on this text.`]
    : [
        `${other}, which the folder does not have. Base patches on this text; until the folder is pushed or pulled, patched versions are kept as conflicts beside the Cloud’s text.`,
      ];
}

function cloudWarnings(reading: FileReading, active: ActiveFile | null, sha256: string): string[] {
  if (active === null) return reading.kind === 'nobody' ? [] : [ofFolder(reading)];
  const open =
    active.sha256 === sha256
      ? 'This is the Cloud’s text, which the editor also had open when it last reported.'
      : `This is the Cloud’s text. The open text (sha256 ${active.sha256}) takes precedence: do not base a patch on this text.`;
  return [`The file is open in an editor that does not return its text: ${reasonOf(reading)}. ${open}`];
}

function ofFolder(reading: FileReading): string {
  if (reading.kind === 'refused' && reading.code === 'NOT_FOUND') {
    return 'The connected folder does not have this file: it was deleted there or never written. This is the Cloud’s text.';
  }
  return `The file is in a connected folder whose client does not return it: ${reasonOf(reading)}. This is the Cloud’s text; the folder may have a different one.`;
}
