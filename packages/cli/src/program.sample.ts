import { createServer, type Server as HttpServer } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { AuditEvent } from '@patchbay/protocol';
import { runCli } from './program.js';
import type { CliIo } from './settings.js';

/* The command line and a scripted server for its tests; not part of the build. */

export interface Request {
  route: string;
  token: string | undefined;
  body: Record<string, unknown>;
}
export type Answer = [status: number, body: unknown];

const ADA = { id: 'u', email: 'ada@example.com', fullName: null };
const BOB = { id: 'b', email: 'bob@example.com', fullName: null };
/** Created by the user of the tests. */
export const WORKSPACE = {
  ...{ id: 'w1', name: 'acme', role: 'owner', owners: [ADA], createdBy: 'u', approvals: [], createdAt: '' },
};
/** Created by someone else, who made the user an owner. */
export const FOREIGN_WORKSPACE = {
  ...WORKSPACE,
  id: 'w2',
  name: 'other',
  owners: [BOB, ADA],
  createdBy: 'b',
};
/** An access token of the user, as far as a client can tell. */
export const TOKEN = `h.${Buffer.from('{"sub":"u"}').toString('base64url')}.s`;
export const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const CREDENTIALS = {
  user: ADA,
  ...{ accessToken: 'access', refreshToken: 'refresh', expiresIn: 900 },
};
export const answerOf = (status: string, kind = 'final') => ({
  successful: true,
  errors: [],
  warnings: [],
  result: {
    ...{ kind, sessionId: 's1', conversationId: 'c1', turnId: 't1', status: 'completed', toolCalls: [] },
    toolResults: [{ toolCallId: 'c1', status, error: null }],
  },
});
export const event = (seq: number, fields: AuditEvent['fields'] = {}): AuditEvent => ({
  ...{ seq, eventId: `e${seq}`, name: 'Tool.CreateFile.ResultReceived', at: '2026-01-02T03:04:05.678Z' },
  ...{ sessionId: 's1', conversationId: 'c1', turnId: 't1', toolCallId: 'call', callId: 'x', attempt: 1 },
  ...{ actor: { userId: 'u', clientId: null }, fields },
});

/** The output of the command line as a person would see it. */
export class Screen extends PassThrough {
  text = '';
  constructor() {
    super();
    this.on('data', (chunk: Buffer) => (this.text += chunk.toString()));
  }
}

/** Accepts any name for any folder. */
function rootOf(route: string): ((request: Request) => Answer) | undefined {
  return route.startsWith('PUT /workspaces/w1/roots/') ? ({ body }) => [200, body] : undefined;
}

/** The command line with its own home, against a server that answers by its routes. */
export class CliFixture {
  home!: string;
  http!: HttpServer;
  url!: string;
  requests: Request[] = [];
  routes: Record<string, (request: Request) => Answer> = {};
  out!: Screen;
  err!: Screen;

  async open(): Promise<void> {
    this.home = await mkdtemp(join(tmpdir(), 'patchbay-cli-'));
    this.requests = [];
    this.routes = {
      'POST /auth/login': () => [200, CREDENTIALS],
      'POST /auth/register': () => [201, CREDENTIALS],
      'GET /workspaces': () => [200, { workspaces: [WORKSPACE] }],
      'POST /workspaces': ({ body }) => [201, { ...WORKSPACE, id: 'made', name: body.name }],
      'GET /workspaces/w1/files': () => [200, { files: [], nextCursor: null }],
      'POST /workspaces/w1/sessions': () => [201, { sessionId: 's1' }],
    };
    this.http = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString()));
      request.on('end', () => {
        const route = `${request.method} ${request.url!.replace('/api/v1', '')}`;
        const token = request.headers.authorization?.slice('Bearer '.length);
        const seen = { route, token, body: JSON.parse(text || '{}') as Record<string, unknown> };
        this.requests.push(seen);
        const answer = this.routes[route] ?? this.routes[route.split('?')[0]!] ?? rootOf(route);
        const [status, body] = answer?.(seen) ?? [404, { error: `No ${route}.`, code: 'NOT_FOUND' }];
        response.writeHead(status).end(JSON.stringify(body));
      });
    });
    await new Promise<void>((resolve) => this.http.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    await this.closeServer();
    await rm(this.home, { recursive: true });
  }

  async closeServer(): Promise<void> {
    this.http.closeAllConnections();
    await new Promise((resolve) => this.http.close(resolve));
  }

  readonly patchbay = (
    args: string[],
    { stdin = '', env = {}, isTTY }: { stdin?: string; env?: NodeJS.ProcessEnv; isTTY?: boolean } = {},
  ) => {
    this.out = new Screen();
    this.err = new Screen();
    const input = new PassThrough();
    // Types an answer once the question is asked.
    if (isTTY) this.err.on('data', (said: Buffer) => / $/.test(said.toString()) && input.write(stdin));
    else input.end(stdin);
    if (isTTY) Object.assign(input, { isTTY });
    const io = { stdin: input, stdout: this.out, stderr: this.err, env } as unknown as CliIo;
    const [command, ...rest] = args;
    const common = ['--home', this.home, '--url', this.url];
    return runCli(command?.startsWith('-') ? args : [command!, ...common, ...rest], io);
  };

  readonly loginAs = (...more: string[]) =>
    this.patchbay(['login', '--email', 'ada@example.com', ...more], { stdin: 'correct horse battery\n' });
}
