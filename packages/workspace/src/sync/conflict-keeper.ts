import { join } from 'node:path';
import type { Ack, ErrorCode, FilePut, FilePutAnswer } from '@patchbay/protocol';
import { isExecutable, KNOWS_EXECUTABLE } from './file-stamp.js';
import { type FolderSync, rootOf } from './folder-sync.js';
import { type ReadFile, readWhole } from './read-file.js';
import type { Conflict } from './sync-report.js';

/** With these errors the Cloud keeps the upload as a version beside the head. */
const KEPT: ReadonlySet<ErrorCode> = new Set(['STALE', 'CONFLICT']);

/** Uploads the local content of conflicting files as versions, so that no decision about the conflict loses it. */
export class ConflictKeeper {
  /** The sha256 that the Cloud has kept, by docPath. */
  private readonly kept = new Map<string, string>();

  constructor(
    private readonly folder: Pick<FolderSync, 'roots' | 'state' | 'maxFileBytes'>,
    private readonly putFile: (file: FilePut) => Promise<Ack<FilePutAnswer>>,
  ) {}

  hasKept(docPath: string, sha256: string): boolean {
    return this.kept.get(docPath) === sha256;
  }

  forget(docPath: string): void {
    this.kept.delete(docPath);
  }

  /** Uploads the content once. If it became the head, the conflict is over: returns its sha256 and Cloud path. */
  async keep({ path, docPath }: Conflict): Promise<{ sha256: string; cloudPath: string } | null> {
    const read = this.readHere(path);
    if (read === null || this.hasKept(docPath, read.sha256)) return null;
    const file = {
      ...{ docPath, path: `/${rootOf(this.folder).name}/${path}`, content: read.bytes, sha256: read.sha256 },
      ...{ baseSha256: this.folder.state.baseOf(docPath), isExact: true },
      ...(KNOWS_EXECUTABLE && { isExecutable: isExecutable(read.stamp) }),
    };
    const answer = await this.putFile(file);
    if (answer.ok) return { sha256: read.sha256, cloudPath: answer.path };
    if (KEPT.has(answer.error.code)) this.kept.set(docPath, read.sha256);
    return null;
  }

  private readHere(path: string): ReadFile | null {
    try {
      return readWhole(join(rootOf(this.folder).directory, path), this.folder.maxFileBytes);
    } catch {
      return null;
    }
  }
}
