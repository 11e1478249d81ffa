export type Role = 'owner' | 'member';

export interface User {
  id: string;
  email: string;
  fullName: string | null;
}

/** Answer to register, login and refresh. `expiresIn` is the access token's life in seconds. */
export interface Credentials {
  user: User;
  accessToken: string;
  refreshToken: string;
  expiresIn: number;
}

/** A workspace as one of its members sees it; `role` is that member's. */
export interface Workspace {
  id: string;
  name: string;
  role: Role;
  createdAt: string;
}

export interface Member {
  userId: string;
  email: string;
  fullName: string | null;
  role: Role;
  addedAt: string;
}

export interface Session {
  sessionId: string;
  conversationId: string;
  workspaceId: string;
  userId: string;
  /** The one client that this session's calls go to; null lets the server choose among the user's clients. */
  clientId: string | null;
  createdAt: string;
}
