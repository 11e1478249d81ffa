import type { Credentials, Workspace } from '@patchbay/protocol';
import { randomUUID } from 'node:crypto';
import { expectDocumented } from './documented.js';
import { keepSecret, keepTextsSecret } from './log-watch.js';

export const PASSWORD = 'correct horse battery';
keepSecret(PASSWORD, 'a password');

/** An answer as a test wants it: body read, JSON parsed where it is JSON. */
export interface Answer<T = unknown> {
  status: number;
  headers: Headers;
  body: T;
}

/** A user who is logged in. */
export class TestUser {
  constructor(
    private readonly server: Requests,
    readonly credentials: Credentials,
  ) {}

  get id(): string {
    return this.credentials.user.id;
  }

  get email(): string {
    return this.credentials.user.email;
  }

  get token(): string {
    return this.credentials.accessToken;
  }

  /** Sends a request with the user's token; `path` starts behind /api/v1. */
  request<T>(method: string, path: string, body?: unknown): Promise<Answer<T>> {
    return this.server.request<T>(method, path, body, { authorization: `Bearer ${this.token}` });
  }

  get<T>(path: string): Promise<Answer<T>> {
    return this.request<T>('GET', path);
  }

  post<T>(path: string, body?: unknown): Promise<Answer<T>> {
    return this.request<T>('POST', path, body);
  }

  /** A new workspace that the user owns. */
  async createWorkspace(name = 'Workspace'): Promise<Workspace> {
    const { status, body } = await this.post<Workspace>('/workspaces', { name });
    if (status !== 201) throw new Error(`createWorkspace: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /** Adds another user to a workspace that this one owns. */
  async addMember(workspaceId: string, user: TestUser, role: 'owner' | 'member' = 'member'): Promise<void> {
    const answer = await this.post(`/workspaces/${workspaceId}/members`, { email: user.email, role });
    if (answer.status !== 201) throw new Error(`addMember: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
}

/** A server that takes requests, in this process or in one of its own. */
export interface Requests {
  request<T>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer<T>>;
}

/** A new user of a server. */
export async function registerUser(
  server: Requests,
  email = `${randomUUID()}@example.com`,
  fullName?: string,
): Promise<TestUser> {
  const answer = await server.request<Credentials>('POST', '/auth/register', {
    email,
    password: PASSWORD,
    fullName,
  });
  if (answer.status !== 201) throw new Error(`register: ${answer.status} ${JSON.stringify(answer.body)}`);
  keepSecret(answer.body.refreshToken, 'a refresh token');
  return new TestUser(server, answer.body);
}

/** Sends `body` as JSON to a path behind /api/v1; strings and bytes as they are. */
export async function sendRequest<T>(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer<T>> {
  const raw = typeof body === 'string' || body instanceof Uint8Array;
  keepTextsSecret(body);
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: raw ? body : JSON.stringify(body) }),
  });
  return answerOf<T>(method, response);
}

/** The answer, its body read; it must be one that is documented. */
export async function answerOf<T>(method: string, response: Response): Promise<Answer<T>> {
  const { status, headers, url } = response;
  const text = await response.text();
  const contentType = headers.get('content-type');
  const isJson = contentType?.startsWith('application/json') ?? false;
  const body = (isJson ? JSON.parse(text) : text) as T;
  expectDocumented({ method, url, status, contentType, body });
  return { status, headers, body };
}
