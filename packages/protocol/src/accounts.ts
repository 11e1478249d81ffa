import type { CloudChange } from './tools/cloud-changes.js';

/** What a member may do: owners see to members and the workspace itself. */
export type Role = 'owner' | 'member';

/** Someone who has an account. */
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
  /** The newest of the login. */
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
  /** Whose it is: its owners, those first who have been members for longest, ten at most. */
  owners: User[];
  /** userId of who made it, whoever owns it now. */
  createdBy: string;
  /** The server's tools whose calls a person is asked about. */
  approvals: CloudChange[];
  createdAt: string;
}

/** Answer to `GET /workspaces`: those that the caller made before the others, each oldest first. */
export interface WorkspacePage {
  workspaces: Workspace[];
  nextCursor: string | null;
}

/** Body of `PUT …/:workspaceId`: what is left out stays as it is. */
export interface WorkspaceChange {
  name?: string | null;
  /** The server's tools whose calls a person is asked about, in place of those so far. */
  approvals?: CloudChange[] | null;
}

/** Body of `POST …/members`. */
export interface MemberRequest {
  /** Of someone who has an account. */
  email: string;
  role: Role;
}

/** Body of `PUT …/members/:userId`. */
export interface RoleRequest {
  role: Role;
}

/** Someone who belongs to a workspace, since `addedAt` (ISO 8601 UTC). */
export interface Member {
  userId: string;
  email: string;
  fullName: string | null;
  role: Role;
  addedAt: string;
}

/** Body of `POST …/sessions`. */
export interface SessionRequest {
  /** Your own id of the conversation, one line of 1 to 256 characters; given where it is left out. */
  conversationId?: string | null;
  /** Binds the session to one client: its calls go there, or wait. */
  clientId?: string | null;
  /**
   * What the session offers: names of tools, and the words `client` (what a client runs), `server` (what the server runs)
   * and `read-only` (what the server runs and changes nothing); 1 to 256 of them. Left out: every tool.
   */
  tools?: string[] | null;
}

/** An agent conversation, of one user. Times in ISO 8601 UTC. */
export interface Session {
  sessionId: string;
  conversationId: string;
  workspaceId: string;
  userId: string;
  /** The one client that this session's calls go to; null lets the server choose among the user's clients. */
  clientId: string | null;
  /** What it offers, as it was asked for; null: every tool. */
  tools: string[] | null;
  createdAt: string;
}

/** Answer to `GET …/sessions`: the caller's own, newest first. */
export interface SessionPage {
  sessions: Session[];
  nextCursor: string | null;
}
