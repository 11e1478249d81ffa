import type { CloudChange } from './tools/cloud-changes.js';

/** Role of a member. Owners manage the members and the workspace. */
export type Role = 'owner' | 'member';

/** A user with an account. */
export interface User {
  id: string;
  email: string;
  fullName: string | null;
}

/** Body of `POST /auth/register`. */
export interface RegisterRequest {
  email: string;
  /** 12 to 256 characters. */
  password: string;
  fullName?: string | null;
}

/** Body of `POST /auth/login`. */
export interface LoginRequest {
  email: string;
  password: string;
}

/** Body of `POST /auth/refresh` and `POST /auth/logout`. */
export interface RefreshRequest {
  /** The newest refresh token of the login. */
  refreshToken: string;
}

/** Answer to register, login and refresh. `expiresIn` is the access token's life in seconds. */
export interface Credentials {
  user: User;
  accessToken: string;
  refreshToken: string;
  expiresIn: number;
}

/** Body of `POST /workspaces`. */
export interface WorkspaceRequest {
  /** One line of 1 to 256 characters. */
  name: string;
}

/** Most owners that a workspace names. */
export const MAX_NAMED_OWNERS = 10;

/** A workspace as one of its members sees it; `role` is that member's. Times in ISO 8601 UTC. */
export interface Workspace {
  id: string;
  name: string;
  role: Role;
  /** The owners, longest membership first, at most ten. */
  owners: User[];
  /** userId of the creator, also after others became owners. */
  createdBy: string;
  /** The server tools whose calls need approval. */
  approvals: CloudChange[];
  createdAt: string;
}

/** Answer to `GET /workspaces`: workspaces that the caller created come first, each group oldest first. */
export interface WorkspacePage {
  workspaces: Workspace[];
  nextCursor: string | null;
}

/** Body of `PUT …/:workspaceId`. Omitted fields stay unchanged. */
export interface WorkspaceChange {
  name?: string | null;
  /** Replaces the list of server tools whose calls need approval. */
  approvals?: CloudChange[] | null;
}

/** Body of `POST …/members`. */
export interface MemberRequest {
  /** Email of an existing account. */
  email: string;
  role: Role;
}

/** Body of `PUT …/members/:userId`. */
export interface RoleRequest {
  role: Role;
}

/** A member of a workspace, since `addedAt` (ISO 8601 UTC). */
export interface Member {
  userId: string;
  email: string;
  fullName: string | null;
  role: Role;
  addedAt: string;
}

/** Body of `POST …/sessions`. */
export interface SessionRequest {
  /** The caller's own id of the conversation, one line of 1 to 256 characters; assigned if omitted. */
  conversationId?: string | null;
  /** Binds the session to one client: its calls wait for that client. */
  clientId?: string | null;
  /**
   * The tools of the session: 1 to 256 tool names or the words `client` (client tools), `server` (server tools) and
   * `read-only` (server tools that change nothing). Omitted: every tool.
   */
  tools?: string[] | null;
}

/** An agent conversation of one user. Times in ISO 8601 UTC. */
export interface Session {
  sessionId: string;
  conversationId: string;
  workspaceId: string;
  userId: string;
  /** The only client for this session's calls; null lets the server choose among the user's clients. */
  clientId: string | null;
  /** The tools as requested; null: every tool. */
  tools: string[] | null;
  createdAt: string;
}

/** Answer to `GET …/sessions`: the caller's own, newest first. */
export interface SessionPage {
  sessions: Session[];
  nextCursor: string | null;
}
