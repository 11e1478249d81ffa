import { Injectable } from '@nestjs/common';
import type { ActiveFile, ContextActiveFile } from '@patchbay/protocol';
import { textOf } from '../files/content-shape.js';
import type { SessionRecord } from '../storage/records/sessions.js';
import { SessionTexts, reasonOf } from '../tools/session-texts.js';
import { DOES_NOT_FIT } from './active-texts.js';

/** Reads the texts of a session's Active Files from its clients. */
@Injectable()
export class ActiveTexts {
  constructor(private readonly texts: SessionTexts) {}

  /** The files in order, with as many of the first texts as fit into `maxBytes` together. */
  async of(
    session: SessionRecord,
    files: readonly ActiveFile[],
    maxBytes: number,
  ): Promise<ContextActiveFile[]> {
    let left = maxBytes;
    const wanted = files.map(({ sizeBytes }) => {
      const fits = sizeBytes <= left;
      left -= fits ? sizeBytes : 0;
      return fits;
    });
    const found = files.map(async (file, at) =>
      wanted[at] ? this.read(session, file, maxBytes) : without(file, DOES_NOT_FIT),
    );
    return Promise.all(found);
  }

  private async read(
    { workspaceId, userId, id: sessionId }: SessionRecord,
    file: ActiveFile,
    maxBytes: number,
  ): Promise<ContextActiveFile> {
    const textsOf = { workspaceId, userId, sessionId };
    const reading = await this.texts.read(textsOf, file.docPath, file, maxBytes);
    if (reading.kind === 'refused' && reading.code === 'TOO_LARGE') return without(file, DOES_NOT_FIT);
    if (reading.kind !== 'given') return without(file, `its editor does not return it, ${reasonOf(reading)}`);
    const { content, sha256, isDirty } = reading;
    const now = { ...file, sha256, sizeBytes: content.length, isDirty };
    const text = textOf(Buffer.from(content));
    if (text === null || text.includes('\0')) return without(now, 'it is no UTF-8 text');
    return { ...now, text };
  }
}

function without(file: ActiveFile, textMissing: string): ContextActiveFile {
  return { ...file, text: null, textMissing };
}
