import type {
  ActiveFile,
  AuditPage,
  BatchView,
  ChangeDetails,
  ClientPresence,
  CloudFilePage,
  CloudFileVersionPage,
  Credentials,
  DirectCallAnswer,
  FileCommitAnswer,
  InvokeResult,
  JsonObject,
  Member,
  MissingBlobs,
  OpenTurnPage,
  RestoredFile,
  Session,
  SessionContext,
  StoredBlobs,
  StoredFile,
  ToolCallInput,
  TurnEnvelope,
  Workspace,
  WorkspacePage,
  WorkspaceRoot,
} from '@patchbay/protocol';
import type { FormattedTool } from '../catalog/tool-formats.js';
import type { Readiness } from './health.controller.js';

/** An answer that is no JSON: what it is, by its media type. */
export interface Raw<MediaType extends string> {
  mediaType: MediaType;
}
type Bytes = Raw<'application/octet-stream'>;
type Diff = Raw<'text/x-diff'>;
type Markdown = Raw<'text/markdown'>;
type Nothing = null;
type TurnAnswer = InvokeResult<TurnEnvelope>;

/** Types of requests that the documents name, beside the DTOs. */
export interface Requested {
  call: ToolCallInput;
  arguments: JsonObject;
}

/**
 * What each route answers where it does not fail, by its status. From this `npm run generate` makes the schemas in
 * docs/openapi.json, and every answer that a test gets is held to them.
 */
export interface Answers {
  'POST /api/v1/auth/register': { 201: Credentials };
  'POST /api/v1/auth/login': { 200: Credentials };
  'POST /api/v1/auth/refresh': { 200: Credentials };
  'POST /api/v1/auth/logout': { 204: Nothing };
  'POST /api/v1/workspaces': { 201: Workspace };
  'GET /api/v1/workspaces': { 200: WorkspacePage };
  'GET /api/v1/workspaces/{workspaceId}': { 200: Workspace };
  'PUT /api/v1/workspaces/{workspaceId}': { 200: Workspace };
  'GET /api/v1/workspaces/{workspaceId}/members': { 200: { members: Member[] } };
  'POST /api/v1/workspaces/{workspaceId}/members': { 201: Member };
  'PUT /api/v1/workspaces/{workspaceId}/members/{userId}': { 200: Member };
  'DELETE /api/v1/workspaces/{workspaceId}/members/{userId}': { 204: Nothing };
  'GET /api/v1/workspaces/{workspaceId}/clients': { 200: { clients: ClientPresence[] } };
  'GET /api/v1/workspaces/{workspaceId}/roots': { 200: { roots: WorkspaceRoot[] } };
  'PUT /api/v1/workspaces/{workspaceId}/roots/{docPath}': { 200: WorkspaceRoot };
  'DELETE /api/v1/workspaces/{workspaceId}/roots/{docPath}': { 204: Nothing };
  'GET /api/v1/workspaces/{workspaceId}/tools': { 200: { tools: FormattedTool[] } };
  'POST /api/v1/workspaces/{workspaceId}/tools': { 200: DirectCallAnswer; 202: DirectCallAnswer };
  'POST /api/v1/workspaces/{workspaceId}/blobs/missing': { 200: MissingBlobs };
  'POST /api/v1/workspaces/{workspaceId}/blobs/read': { 200: Bytes };
  'PUT /api/v1/workspaces/{workspaceId}/blobs/{sha256}': { 200: StoredBlobs };
  'POST /api/v1/workspaces/{workspaceId}/blobs': { 200: StoredBlobs };
  'GET /api/v1/workspaces/{workspaceId}/contents/{path}': { 200: Bytes; 304: Nothing };
  'PUT /api/v1/workspaces/{workspaceId}/contents/{path}': { 200: StoredFile; 201: StoredFile };
  'POST /api/v1/workspaces/{workspaceId}/files/commit': { 200: FileCommitAnswer };
  'GET /api/v1/workspaces/{workspaceId}/files': { 200: CloudFilePage };
  'GET /api/v1/workspaces/{workspaceId}/files/{fileId}/versions': { 200: CloudFileVersionPage };
  'GET /api/v1/workspaces/{workspaceId}/files/{fileId}/versions/{versionId}/content': { 200: Bytes };
  'GET /api/v1/workspaces/{workspaceId}/files/{fileId}/diff': { 200: Diff };
  'POST /api/v1/workspaces/{workspaceId}/files/{fileId}/restore': { 200: RestoredFile };
  'GET /api/v1/workspaces/{workspaceId}/patches/{batchId}': { 200: BatchView };
  'GET /api/v1/workspaces/{workspaceId}/patches/{batchId}/diff': { 200: Diff };
  'POST /api/v1/workspaces/{workspaceId}/patches/{batchId}/revert': { 200: TurnAnswer; 202: TurnAnswer };
  'GET /api/v1/workspaces/{workspaceId}/changes/{changeId}': { 200: ChangeDetails };
  'POST /api/v1/workspaces/{workspaceId}/sessions': { 201: Session };
  'GET /api/v1/workspaces/{workspaceId}/sessions': {
    200: { sessions: Session[]; nextCursor: string | null };
  };
  'GET /api/v1/workspaces/{workspaceId}/sessions/{sessionId}': { 200: Session };
  'PUT /api/v1/workspaces/{workspaceId}/sessions/{sessionId}/active-files': {
    200: { activeFiles: ActiveFile[] };
  };
  'GET /api/v1/workspaces/{workspaceId}/sessions/{sessionId}/context': {
    200: SessionContext | Markdown;
    304: Nothing;
  };
  'POST /api/v1/workspaces/{workspaceId}/sessions/{sessionId}/turns': { 200: TurnAnswer; 202: TurnAnswer };
  'GET /api/v1/workspaces/{workspaceId}/sessions/{sessionId}/turns/{turnId}': {
    200: TurnAnswer;
    202: TurnAnswer;
  };
  'POST /api/v1/workspaces/{workspaceId}/sessions/{sessionId}/turns/{turnId}/results': {
    200: TurnAnswer;
    202: TurnAnswer;
  };
  'POST /api/v1/workspaces/{workspaceId}/sessions/{sessionId}/turns/{turnId}/cancel': { 200: TurnAnswer };
  'POST /api/v1/workspaces/{workspaceId}/sessions/{sessionId}/turns/{turnId}/tool-calls/{toolCallId}/cancel': {
    200: TurnAnswer;
  };
  'GET /api/v1/workspaces/{workspaceId}/turns': { 200: OpenTurnPage };
  'GET /api/v1/workspaces/{workspaceId}/audit': { 200: AuditPage };
  'GET /health/live': { 200: { status: 'live' } };
  'GET /health/ready': { 200: Readiness; 503: Readiness };
}

/** All that is described. */
export interface Described {
  answers: Answers;
  requested: Requested;
}
