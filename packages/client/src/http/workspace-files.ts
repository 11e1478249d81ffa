import {
  type BlobsRequest,
  type CloudFile,
  type CloudFilePage,
  type CloudFileVersion,
  type CloudFileVersionPage,
  type CommittedFile,
  type FileChange,
  type FileCommitAnswer,
  type FileCommitRequest,
  type FilesQuery,
  MAX_BATCH_FILES,
  type MissingBlobs,
  packBlobs,
  type RefusedFile,
  type RestoredFile,
  type StoredBlobs,
  type StoredFile,
  unpackBlobs,
} from '@patchbay/protocol';
import { post, type HttpRequest } from './http-transport.js';
import { WorkspaceRequests } from './workspace-requests.js';

/** Slowest transfer that is waited for, in bytes per millisecond. */
const SLOWEST_BYTES_PER_MS = 16;
const PAGE = 1000;

/** Which files to list. */
export interface FileListOptions extends Pick<FilesQuery, 'prefix' | 'deleted'> {
  signal?: AbortSignal;
}

/** Which version of a file to read. */
export interface FileReadOptions {
  /** sha256 that the caller already has. */
  known?: string;
  /** The version; default the head. */
  versionId?: string;
  signal?: AbortSignal;
}

/** Which two versions of a file to compare. */
export interface FileDiffOptions {
  /** The older version; default the one before `to`. */
  from?: string;
  /** The newer version; default the head. */
  to?: string;
  signal?: AbortSignal;
}

/** The bytes of a file and their sha256, to compare with later ones. */
export interface FileContents {
  bytes: Uint8Array;
  sha256: string;
}

/** Condition of a write: the head must have the hash `ifMatch`, or with `ifNoneMatch: '*'` must not exist. */
export interface WriteCondition {
  /** sha256 of the head to be replaced. */
  ifMatch?: string;
  ifNoneMatch?: '*';
  signal?: AbortSignal;
}

/**
 * The Cloud files of a workspace over HTTP, from `WorkspaceClient.files`. sha256s are lowercase hex. A file has at
 * most 8 MiB unless the server is configured otherwise: TOO_LARGE.
 *
 * ```ts
 * const { bytes, sha256 } = (await workspace.files.read('/notes/a.txt'))!;
 * await workspace.files.write('/notes/a.txt', edited(bytes), { ifMatch: sha256 });
 * ```
 */
export class WorkspaceFiles extends WorkspaceRequests {
  /** The files by docPath: `for await (const file of workspace.files.list({ prefix: 'src/' }))`. */
  list({ prefix, deleted, signal }: FileListOptions = {}): AsyncGenerator<CloudFile, void> {
    const query = { prefix, deleted, limit: PAGE } satisfies FilesQuery;
    return this.pages({ path: '/files', query, patient: true, signal }, (page: CloudFilePage) => page.files);
  }

  /**
   * The bytes of a file by its Cloud path or docPath: its head, or the version `versionId`. Null if the file still
   * has the sha256 `known`. NOT_FOUND if it does not exist.
   */
  async read(path: string, { known, versionId, signal }: FileReadOptions = {}): Promise<FileContents | null> {
    const headers = { ...(known !== undefined && { 'if-none-match': `"${known}"` }) };
    const request: HttpRequest = {
      ...{ method: 'GET', path: contentsPath(path), query: { versionId } },
      ...{ headers, patient: true, signal },
    };
    const answer = await this.http.requestBytes(this.inWorkspace(request));
    return answer.status === 304 ? null : { bytes: answer.bytes, sha256: sha256In(answer.headers) };
  }

  /**
   * The versions of a file, newest first, including uploads that were kept as conflicts. NOT_FOUND if the file does
   * not exist.
   */
  versions(fileId: string, signal?: AbortSignal): AsyncGenerator<CloudFileVersion, void> {
    const request = { path: `${filePath(fileId)}/versions`, query: { limit: PAGE }, signal };
    return this.pages(request, (page: CloudFileVersionPage) => page.versions);
  }

  /**
   * The changes from one version of a file to another, as a unified diff; by default from the version before the head
   * to the head. VALIDATION_ERROR if a version is not text, NOT_FOUND if it does not exist.
   *
   * ```ts
   * console.log(await workspace.files.diff(fileId, { from: versionId }));
   * ```
   */
  diff(fileId: string, { from, to, signal }: FileDiffOptions = {}): Promise<string> {
    return this.readText({ path: `${filePath(fileId)}/diff`, query: { from, to }, signal });
  }

  /**
   * Makes a copy of a version the new head; without `versionId` undoes a deletion. CONFLICT if something else has the
   * path now, NOT_FOUND if the file or version does not exist.
   */
  restore(fileId: string, versionId?: string): Promise<RestoredFile> {
    return this.send(post(`${filePath(fileId)}/restore`, versionId === undefined ? {} : { versionId }));
  }

  /** The bytes of one version, which never change. NOT_FOUND if the file or version does not exist. */
  async readVersion(fileId: string, versionId: string, signal?: AbortSignal): Promise<Uint8Array> {
    const path = `${filePath(fileId)}/versions/${encodeURIComponent(versionId)}/content`;
    const request: HttpRequest = { method: 'GET', path, patient: true, signal };
    return (await this.http.requestBytes(this.inWorkspace(request))).bytes;
  }

  /** The bytes of these hashes, in their order; each belongs to a version or was uploaded. NOT_FOUND if one is missing. */
  async *readBlobs(sha256s: readonly string[], signal?: AbortSignal): AsyncGenerator<Uint8Array, void> {
    for (let left = sha256s; left.length > 0;) {
      const request = post('/blobs/read', { sha256s: left.slice(0, MAX_BATCH_FILES) } satisfies BlobsRequest);
      const { bytes } = await this.http.requestBytes(this.inWorkspace({ ...request, ...REPEATABLE, signal }));
      const blobs = unpackBlobs(bytes) ?? [];
      if (blobs.length === 0 || blobs.length > left.length) {
        throw new Error('The server did not answer with a pack of what was asked for; try again.');
      }
      yield* blobs;
      left = left.slice(blobs.length);
    }
  }

  /**
   * Makes bytes the new head of a path. STALE if the condition does not hold; without one it overwrites. CONFLICT if
   * a folder has the path. TOO_LARGE also if a quota is used up (`isQuotaExceeded`).
   */
  write(
    path: string,
    bytes: Uint8Array,
    { ifMatch, ifNoneMatch, signal }: WriteCondition = {},
  ): Promise<StoredFile> {
    const headers = {
      ...(ifMatch !== undefined && { 'if-match': `"${ifMatch}"` }),
      ...(ifNoneMatch !== undefined && { 'if-none-match': ifNoneMatch }),
    };
    return this.send({ method: 'PUT', path: contentsPath(path), headers, ...upload(bytes), signal });
  }

  /** The hashes, out of at most 1,000, whose bytes the workspace does not hold. */
  async missingBlobs(sha256s: readonly string[], signal?: AbortSignal): Promise<string[]> {
    const request = post('/blobs/missing', { sha256s } satisfies BlobsRequest);
    return (await this.send<MissingBlobs>({ ...request, ...REPEATABLE, signal })).missing;
  }

  /** Uploads the bytes of one file, whose sha256 is `digest`, before the commit that refers to them. */
  async putBlob(digest: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
    const path = `/blobs/${digest}`;
    await this.send<StoredBlobs>({ method: 'PUT', path, ...upload(bytes), ...REPEATABLE, signal });
  }

  /** Uploads up to 1,000 blobs in one request, together no larger than the file limit. */
  async putBlobs(blobs: readonly Uint8Array[], signal?: AbortSignal): Promise<void> {
    const pack = packBlobs(blobs);
    await this.send<StoredBlobs>({ method: 'POST', path: '/blobs', ...upload(pack), ...REPEATABLE, signal });
  }

  /**
   * Commits up to 1,000 files whose blobs were uploaded before, each with the base that the caller knows. Each file
   * gets its own answer, in the order of the request; repeating the request is safe.
   */
  async commit(files: readonly FileChange[], signal?: AbortSignal): Promise<(CommittedFile | RefusedFile)[]> {
    const request = post('/files/commit', { files } satisfies FileCommitRequest);
    return (await this.send<FileCommitAnswer>({ ...request, ...REPEATABLE, signal })).files;
  }
}

const REPEATABLE = { idempotent: true, patient: true } as const;

function upload(bytes: Uint8Array): Pick<HttpRequest, 'bytes' | 'waitMs'> {
  return { bytes, waitMs: Math.ceil(bytes.length / SLOWEST_BYTES_PER_MS) };
}

/** The entity tag is the sha256; a compressing proxy turns it into a weak one. */
function sha256In(headers: Headers): string {
  const [, sha256] = /^(?:W\/)?"([0-9a-f]{64})"$/.exec(headers.get('etag') ?? '') ?? [];
  if (sha256 === undefined) throw new Error('The answer lacks the sha256 of the file, its ETag.');
  return sha256;
}

const filePath = (fileId: string) => `/files/${encodeURIComponent(fileId)}`;

function contentsPath(path: string): string {
  return `/contents/${path.replace(/^\//, '').split('/').map(encodeURIComponent).join('/')}`;
}
