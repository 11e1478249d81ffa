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

/** Slowest upload or download that is waited for, in bytes a millisecond. */
const SLOWEST = 16;
const PAGE = 1000;

/** Which files a listing is of. */
export interface FileListOptions extends Pick<FilesQuery, 'prefix' | 'deleted'> {
  signal?: AbortSignal;
}

/** Which bytes of a file are wanted. */
export interface FileReadOptions {
  /** sha256 of what the caller holds. */
  known?: string;
  /** The version that is wanted; the head where it is left out. */
  versionId?: string;
  signal?: AbortSignal;
}

/** Two versions of a file. */
export interface FileDiffOptions {
  /** The older; the one before `to` where it is left out. */
  from?: string;
  /** The newer; the head where it is left out. */
  to?: string;
  signal?: AbortSignal;
}

/** The bytes of a file and their sha256, to be held against later ones. */
export interface FileContents {
  bytes: Uint8Array;
  sha256: string;
}

/** What the head of a file must be for a write: one with `ifMatch`, none at all with `ifNoneMatch: '*'`. */
export interface WriteCondition {
  /** sha256 of the head that is to be replaced. */
  ifMatch?: string;
  ifNoneMatch?: '*';
  signal?: AbortSignal;
}

/**
 * A workspace's Cloud files over HTTP. From `WorkspaceClient.files`. sha256s are lowercase hex, and a file has at most 8 MiB
 * unless the server says otherwise: TOO_LARGE.
 *
 * ```ts
 * const { bytes, sha256 } = (await workspace.files.read('/notes/a.txt'))!;
 * await workspace.files.write('/notes/a.txt', edited(bytes), { ifMatch: sha256 });
 * ```
 */
export class WorkspaceFiles extends WorkspaceRequests {
  /** The files by docPath, page by page: `for await (const file of workspace.files.list({ prefix: 'src/' }))`. */
  list({ prefix, deleted, signal }: FileListOptions = {}): AsyncGenerator<CloudFile, void> {
    const query = { prefix, deleted, limit: PAGE } satisfies FilesQuery;
    return this.pages({ path: '/files', query, patient: true, signal }, (page: CloudFilePage) => page.files);
  }

  /**
   * The bytes of a file by its Cloud path or docPath: its head, or the version `versionId`. With the sha256 that one holds
   * already as `known`, null where the file still has it. NOT_FOUND where there is none.
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

  /** The versions of a file, newest first; uploads that were kept beside the head are among them. NOT_FOUND where there is none. */
  versions(fileId: string, signal?: AbortSignal): AsyncGenerator<CloudFileVersion, void> {
    const request = { path: `${filePath(fileId)}/versions`, query: { limit: PAGE }, signal };
    return this.pages(request, (page: CloudFileVersionPage) => page.versions);
  }

  /**
   * What changed from one version of a file to another, as a unified diff; by default from the one before the head to the
   * head. VALIDATION_ERROR for what is no text, NOT_FOUND for a version that there is not.
   *
   * ```ts
   * console.log(await workspace.files.diff(fileId, { from: versionId }));
   * ```
   */
  diff(fileId: string, { from, to, signal }: FileDiffOptions = {}): Promise<string> {
    return this.readText({ path: `${filePath(fileId)}/diff`, query: { from, to }, signal });
  }

  /**
   * Makes a version the head again, as a version of its own; without `versionId` undoes a deletion. CONFLICT where
   * something else has the path by now, NOT_FOUND where there is no such file or version.
   */
  restore(fileId: string, versionId?: string): Promise<RestoredFile> {
    return this.send(post(`${filePath(fileId)}/restore`, versionId === undefined ? {} : { versionId }));
  }

  /** The bytes of one version, which never change. NOT_FOUND where there is no such file or version. */
  async readVersion(fileId: string, versionId: string, signal?: AbortSignal): Promise<Uint8Array> {
    const path = `${filePath(fileId)}/versions/${encodeURIComponent(versionId)}/content`;
    const request: HttpRequest = { method: 'GET', path, patient: true, signal };
    return (await this.http.requestBytes(this.inWorkspace(request))).bytes;
  }

  /** The bytes of these hashes, each of a version or of what was sent; in their order. NOT_FOUND where one is missing. */
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
   * Makes bytes the new head of a path. STALE where the condition does not hold; without one it overwrites. CONFLICT where
   * a folder is in the way, TOO_LARGE also where a share is used up (`isOutOfRoom`).
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

  /** Those of at most 1,000 hashes whose bytes the workspace does not hold. */
  async missingBlobs(sha256s: readonly string[], signal?: AbortSignal): Promise<string[]> {
    const request = post('/blobs/missing', { sha256s } satisfies BlobsRequest);
    return (await this.send<MissingBlobs>({ ...request, ...REPEATABLE, signal })).missing;
  }

  /** Sends the bytes of one file, whose sha256 is `digest`, ahead of the commit that will refer to them. */
  async putBlob(digest: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
    const path = `/blobs/${digest}`;
    await this.send<StoredBlobs>({ method: 'PUT', path, ...upload(bytes), ...REPEATABLE, signal });
  }

  /** Sends up to 1,000 blobs in one request, together no larger than one file may be. */
  async putBlobs(blobs: readonly Uint8Array[], signal?: AbortSignal): Promise<void> {
    const pack = packBlobs(blobs);
    await this.send<StoredBlobs>({ method: 'POST', path: '/blobs', ...upload(pack), ...REPEATABLE, signal });
  }

  /**
   * Makes up to 1,000 files of blobs that were sent before, each on the base that the caller knows. Each is answered
   * for itself, in the order of the request; to send the same again is safe.
   */
  async commit(files: readonly FileChange[], signal?: AbortSignal): Promise<(CommittedFile | RefusedFile)[]> {
    const request = post('/files/commit', { files } satisfies FileCommitRequest);
    return (await this.send<FileCommitAnswer>({ ...request, ...REPEATABLE, signal })).files;
  }
}

const REPEATABLE = { idempotent: true, patient: true } as const;

function upload(bytes: Uint8Array): Pick<HttpRequest, 'bytes' | 'waitMs'> {
  return { bytes, waitMs: Math.ceil(bytes.length / SLOWEST) };
}

/** The entity tag is the sha256; a proxy that compresses makes a weak one of it. */
function sha256In(headers: Headers): string {
  const [, sha256] = /^(?:W\/)?"([0-9a-f]{64})"$/.exec(headers.get('etag') ?? '') ?? [];
  if (sha256 === undefined) throw new Error('The answer lacks the sha256 of the file, its ETag.');
  return sha256;
}

const filePath = (fileId: string) => `/files/${encodeURIComponent(fileId)}`;

function contentsPath(path: string): string {
  return `/contents/${path.replace(/^\//, '').split('/').map(encodeURIComponent).join('/')}`;
}
