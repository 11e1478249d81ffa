import { createServer, type Server as HttpServer } from 'node:http';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type {
  Ack,
  AuditEvent,
  FilePut,
  FilePutAnswer,
  ResumeAnswer,
  ToolCallDelivery,
  ToolResultReport,
} from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { parsePatchBatch } from '@patchbay/protocol/line-patch';
import { Server, type Socket } from 'socket.io';
import { EXIT } from './cli-error.js';
import { runCli } from './program.js';
import type { CliIo } from './settings.js';

interface Request {
  route: string;
  token: string | undefined;
  body: Record<string, unknown>;
}
type Answer = [status: number, body: unknown];

const WORKSPACE = { id: 'w1', name: 'acme', role: 'owner', createdAt: '' };
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const CREDENTIALS = {
  user: { id: 'u', email: 'ada@example.com', fullName: null },
  ...{ accessToken: 'access', refreshToken: 'refresh', expiresIn: 900 },
};
const envelope = (status: string, kind = 'final') => ({
  successful: true,
  errors: [],
  warnings: [],
  result: {
    ...{ kind, sessionId: 's1', conversationId: 'c1', turnId: 't1', status: 'completed', toolCalls: [] },
    toolResults: [{ toolCallId: 'c1', status }],
  },
});
const event = (seq: number, fields: AuditEvent['fields'] = {}): AuditEvent => ({
  ...{ seq, eventId: `e${seq}`, name: 'Tool.CreateFile.ResultReceived', at: '2026-01-02T03:04:05.678Z' },
  ...{ sessionId: 's1', conversationId: 'c1', turnId: 't1', toolCallId: 'call', callId: 'x', attempt: 1 },
  ...{ actor: { userId: 'u', clientId: null }, fields },
});

/** What the command line says, as a person would see it. */
class Screen extends PassThrough {
  text = '';
  constructor() {
    super();
    this.on('data', (chunk: Buffer) => (this.text += chunk.toString()));
  }
}

describe('patchbay', () => {
  let home: string;
  let http: HttpServer;
  let url: string;
  let requests: Request[];
  let routes: Record<string, (request: Request) => Answer>;
  let out: Screen;
  let err: Screen;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'patchbay-cli-'));
    requests = [];
    routes = {
      'POST /auth/login': () => [200, CREDENTIALS],
      'POST /auth/register': () => [201, CREDENTIALS],
      'GET /workspaces': () => [200, { workspaces: [WORKSPACE] }],
      'POST /workspaces': ({ body }) => [201, { ...WORKSPACE, id: 'made', name: body.name }],
      'POST /workspaces/w1/sessions': () => [201, { sessionId: 's1' }],
    };
    http = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString()));
      request.on('end', () => {
        const route = `${request.method} ${request.url!.replace('/api/v1', '')}`;
        const token = request.headers.authorization?.slice('Bearer '.length);
        const seen = { route, token, body: JSON.parse(text || '{}') as Record<string, unknown> };
        requests.push(seen);
        const answer = routes[route] ?? routes[route.split('?')[0]!];
        const [status, body] = answer?.(seen) ?? [404, { error: `No ${route}.`, code: 'NOT_FOUND' }];
        response.writeHead(status).end(JSON.stringify(body));
      });
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  });

  afterEach(async () => {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
    await rm(home, { recursive: true });
  });

  const patchbay = (
    args: string[],
    { stdin = '', env = {} }: { stdin?: string; env?: NodeJS.ProcessEnv } = {},
  ) => {
    out = new Screen();
    err = new Screen();
    const input = new PassThrough();
    input.end(stdin);
    const io = { stdin: input, stdout: out, stderr: err, env } as unknown as CliIo;
    const [command, ...rest] = args;
    return runCli(command?.startsWith('-') ? args : [command!, '--home', home, '--url', url, ...rest], io);
  };
  const loginAs = (...more: string[]) =>
    patchbay(['login', '--email', 'ada@example.com', ...more], { stdin: 'correct horse battery\n' });

  const storedLogin = async () => {
    const stored = JSON.parse(await readFile(join(home, 'credentials.json'), 'utf8')) as {
      logins: Record<string, object>;
    };
    return stored.logins[url];
  };

  describe('the workspace', () => {
    const other = { ...WORKSPACE, id: 'w2', name: 'other' };
    const eventsOf = (...flags: string[]) => patchbay(['audit', ...flags]);
    const lastRoute = () => requests.at(-1)!.route.split('?')[0];
    beforeEach(() => {
      for (const id of ['w1', 'w2', UNKNOWN]) {
        routes[`GET /workspaces/${id}/audit`] = () => [200, { events: [], nextCursor: null }];
      }
      routes['GET /workspaces'] = () => [200, { workspaces: [WORKSPACE, other] }];
    });

    it('may be given by its name', async () => {
      await loginAs('--workspace', 'w1');
      expect(await eventsOf('--workspace', 'other')).toBe(EXIT.ok);
      expect(lastRoute()).toBe('GET /workspaces/w2/audit');
    });

    it('is asked for by nobody where its id is given', async () => {
      expect(await eventsOf('--token', 'jwt', '--workspace', UNKNOWN)).toBe(EXIT.ok);
      expect(requests).toHaveLength(1);
    });

    it.each([
      [
        'none',
        'nobody',
        EXIT.refused,
        'You are no member of a workspace "nobody". Yours: acme (w1), other (w2).',
      ],
      ['several', 'twin', EXIT.usage, 'Several workspaces have the name "twin": pass --workspace <id>.'],
    ])('is refused clearly where %s has the name', async (_what, name, exitCode, message) => {
      if (name === 'twin') {
        const twins = ['w1', 'w2'].map((id) => ({ ...WORKSPACE, id, name }));
        routes['GET /workspaces'] = () => [200, { workspaces: twins }];
      }
      expect(await eventsOf('--token', 'jwt', '--workspace', name)).toBe(exitCode);
      expect(err.text).toContain(message);
    });

    it('of a token is the only one that its user is a member of', async () => {
      routes['GET /workspaces'] = () => [200, { workspaces: [other] }];
      expect(await eventsOf('--token', 'jwt')).toBe(EXIT.ok);
      expect(lastRoute()).toBe('GET /workspaces/w2/audit');
    });

    it('of a token has to be chosen where there are several', async () => {
      expect(await eventsOf('--token', 'jwt')).toBe(EXIT.usage);
      expect(err.text).toContain('Choose one with --workspace <id>. Yours: acme (w1), other (w2).');
    });

    it('is the only one there is after a login that chose none', async () => {
      routes['GET /workspaces'] = () => [200, { workspaces: [other] }];
      await loginAs('--workspace', 'nobody');
      expect(await eventsOf()).toBe(EXIT.ok);
      expect(lastRoute()).toBe('GET /workspaces/w2/audit');
    });
  });

  describe('login', () => {
    it('takes the password from stdin, and keeps who is logged in where', async () => {
      expect(await loginAs()).toBe(EXIT.ok);
      expect(requests[0]!.body).toEqual({ email: 'ada@example.com', password: 'correct horse battery' });
      expect(out.text).toBe(`Logged in to ${url} as ada@example.com, workspace "acme" (w1).\n`);
      const stored = JSON.parse(await readFile(join(home, 'credentials.json'), 'utf8')) as object;
      expect(stored).toMatchObject({ current: url, logins: { [url]: { workspaceId: 'w1' } } });
    });

    it('takes the password from the environment', async () => {
      const env = { PATCHBAY_PASSWORD: 'from the environment' };
      await patchbay(['login', '--email', 'ada@example.com'], { env });
      expect(requests[0]!.body.password).toBe('from the environment');
    });

    it('makes the account with --register, and a workspace for who has none', async () => {
      routes['GET /workspaces'] = () => [200, { workspaces: [] }];
      expect(await loginAs('--register')).toBe(EXIT.ok);
      expect(requests.map(({ route }) => route)).toEqual([
        'POST /auth/register',
        'GET /workspaces',
        'POST /workspaces',
      ]);
      expect(out.text).toContain('workspace "ada" (made)');
    });

    it('asks for --workspace where there are several and nobody to ask', async () => {
      const other = { ...WORKSPACE, id: 'w2', name: 'other' };
      routes['GET /workspaces'] = () => [200, { workspaces: [WORKSPACE, other] }];
      expect(await loginAs()).toBe(EXIT.usage);
      expect(err.text).toMatch(
        /^patchbay: Choose one with --workspace <id>\. Yours: acme \(w1\), other \(w2\)\. You are logged in; /,
      );
      expect(await loginAs('--workspace', 'other')).toBe(EXIT.ok);
    });

    it('keeps the login of an account that was just made, whatever becomes of its workspace', async () => {
      expect(await loginAs('--register', '--workspace', 'nobody')).toBe(EXIT.refused);
      expect(err.text).toBe(
        'patchbay: You are no member of a workspace "nobody". Yours: acme (w1). The account is made and you are logged in; ' +
          'run "patchbay login" without --register, with another --workspace (or PATCHBAY_WORKSPACE), or without one, to choose it.\n',
      );
      expect(await storedLogin()).toMatchObject({ email: 'ada@example.com', workspaceId: null });
    });

    it('keeps the workspace that was chosen before where it cannot choose another', async () => {
      await loginAs();
      expect(await loginAs('--workspace', 'nobody')).toBe(EXIT.refused);
      expect(await storedLogin()).toMatchObject({ workspaceId: 'w1' });
    });

    it('says in one line that email or password is wrong', async () => {
      routes['POST /auth/login'] = () => [401, { error: 'Wrong email or password.', code: 'INVALID_TOKEN' }];
      expect(await loginAs()).toBe(EXIT.refused);
      expect(err.text).toBe('patchbay: Wrong email or password.\n');
    });

    it('names every field that is wrong', async () => {
      const fields = { password: 'must have at least 12 characters' };
      routes['POST /auth/login'] = () => [400, { error: 'Invalid.', code: 'VALIDATION_ERROR', fields }];
      expect(await loginAs()).toBe(EXIT.usage);
      expect(err.text).toContain('password must have at least 12 characters');
    });
  });

  describe('turn', () => {
    const TURN = 'POST /workspaces/w1/sessions/s1/turns';
    const call = { toolCallId: 'c1', name: 'ls', arguments: {} };

    it('prints warnings beside the envelope, as the server answers', async () => {
      await loginAs();
      const warnings = [{ errorCode: 'DIVERGED', message: 'Not what was uploaded.' }];
      routes[TURN] = () => [200, { ...envelope('succeeded'), warnings }];
      await patchbay(['turn', '-'], { stdin: JSON.stringify([call]) });
      expect(JSON.parse(out.text)).toEqual({ ...envelope('succeeded'), warnings });
    });

    it.each([
      ['a whole turn', { turnId: 't9', toolCalls: [call] }],
      ['a list of calls', [call]],
      ['one call', call],
    ])('posts %s from stdin and prints the envelope', async (_what, content) => {
      await loginAs();
      routes[TURN] = () => [200, envelope('succeeded')];
      expect(await patchbay(['turn', '-'], { stdin: JSON.stringify(content) })).toBe(EXIT.ok);
      expect(requests.at(-1)).toMatchObject({ token: 'access', body: { toolCalls: [call] } });
      expect(JSON.parse(out.text)).toMatchObject({ result: { kind: 'final', turnId: 't1' } });
    });

    it('posts a file into a given session', async () => {
      await loginAs();
      const file = join(home, 'turn.json');
      await writeFile(file, JSON.stringify([call]));
      routes['POST /workspaces/w1/sessions/mine/turns'] = () => [200, envelope('succeeded')];
      expect(await patchbay(['turn', '--session', 'mine', file])).toBe(EXIT.ok);
    });

    it.each([
      ['a call failed', envelope('failed'), EXIT.callFailed],
      ['a call was denied', envelope('denied'), EXIT.callFailed],
      ['the turn is still open', envelope('succeeded', 'client_tool_continuation'), EXIT.turnOpen],
    ])('tells by its exit code that %s', async (_what, answer, exitCode) => {
      await loginAs();
      routes[TURN] = () => [200, answer];
      expect(await patchbay(['turn', '--wait', '0', '-'], { stdin: JSON.stringify([call]) })).toBe(exitCode);
    });

    it.each([
      ['is not JSON', '{', 'is not JSON'],
      ['is no turn', '"x"', 'holds no turn'],
      [
        'holds what would be rounded',
        '{"toolCalls":[{"n":9007199254740993}]}',
        'the number 9007199254740993',
      ],
    ])('refuses input that %s', async (_what, stdin, message) => {
      await loginAs();
      expect(await patchbay(['turn', '-'], { stdin })).toBe(EXIT.usage);
      expect(err.text).toContain(message);
    });

    it('says what to do without a login', async () => {
      expect(await patchbay(['turn', '-'], { stdin: '[]' })).toBe(EXIT.usage);
      expect(err.text).toContain('run "patchbay login"');
    });
  });

  describe('audit', () => {
    const AUDIT = 'GET /workspaces/w1/audit';

    it('prints a table that no name or field can break', async () => {
      await loginAs();
      const fields = { path: 'a\u001b[2J', success: true, hash: 'f'.repeat(64), errorCode: null };
      routes[AUDIT] = () => [200, { events: [event(1, fields)], nextCursor: null }];
      expect(await patchbay(['audit'])).toBe(EXIT.ok);
      expect(out.text).toBe(
        'seq  time          event                           call  details\n' +
          '  1  03:04:05.678  Tool.CreateFile.ResultReceived  call  path=a\\x1b[2J success=true hash=ffffffffffff…\n',
      );
    });

    it('prints JSON lines, through all pages up to the limit', async () => {
      await loginAs();
      routes[AUDIT] = ({ route }) =>
        route.includes('cursor=2')
          ? [200, { events: [event(3), event(4)], nextCursor: null }]
          : [200, { events: [event(1), event(2)], nextCursor: '2' }];
      await patchbay(['audit', '--json', '--limit', '3', '--turn-id', 't1', '--success', 'false']);
      const lines = out.text.trimEnd().split('\n');
      expect(lines.map((line) => (JSON.parse(line) as AuditEvent).seq)).toEqual([1, 2, 3]);
      expect(requests.at(-1)!.route).toContain('turnId=t1&success=false&limit=3');
    });

    it('says so when nothing fits', async () => {
      await loginAs();
      routes[AUDIT] = () => [200, { events: [], nextCursor: null }];
      await patchbay(['audit']);
      expect(out.text).toBe('No events.\n');
    });
  });

  describe('connect', () => {
    let io: Server;
    let project: string;
    let deliver: (
      args: ToolCallDelivery['arguments'],
      more?: Partial<ToolCallDelivery>,
    ) => Promise<ToolResultReport>;
    let statuses: string[];
    let uploads: string[];
    let clientIds: string[];

    beforeEach(async () => {
      statuses = [];
      uploads = [];
      clientIds = [];
      project = join(home, '..', `${home.split('/').at(-1)}-project`);
      await mkdir(project);
      io = new Server(http);
      io.of('/relay').on('connection', (socket: Socket) => {
        clientIds.push((socket.handshake.auth as { clientId: string }).clientId);
        socket.on('client:resume', (_calls: unknown, ack: (answer: Ack<ResumeAnswer>) => void) =>
          ack({ ok: true, forget: [], resume: [] }),
        );
        socket.on('tool:status', (status: { status: string }, ack: (answer: Ack) => void) => {
          statuses.push(status.status);
          ack({ ok: true });
        });
        socket.on('files:put', (file: FilePut, ack: (answer: Ack<FilePutAnswer>) => void) => {
          uploads.push(file.path);
          ack({ ok: true, versionId: 'v1', fileId: 'f1' });
        });
        deliver = (args, more = {}) =>
          new Promise((resolve) => {
            socket.once('tool:result', (report: ToolResultReport, ack: (answer: Ack) => void) => {
              ack({ ok: true });
              resolve(report);
            });
            const ids = {
              callId: 'k1',
              toolCallId: 'c1',
              sessionId: 's1',
              conversationId: 'v1',
              turnId: 't1',
            };
            const deadlines = { deliveryAt: null, approvalAt: null, executionAt: null };
            const name = 'workspace_create_file';
            const call = { ...ids, attempt: 1, name, arguments: args, deadlines, ...more };
            socket.emit('tool:call', call, () => undefined);
          });
      });
      await loginAs();
    });
    afterEach(async () => {
      await io.close();
      await rm(project, { recursive: true });
    });

    const connected = async () => {
      for (let i = 0; !out.text.includes('connected\n'); i++) {
        if (i > 300) throw new Error(`It did not connect: ${err.text}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };

    it('executes what is allowed, logs it as a JSON line, and ends with a signal', async () => {
      const running = patchbay(['connect', '--root', project, '--allow', 'src/**']);
      await connected();
      const report = await deliver({ path: 'src/a.txt', content: 'x\n' });
      expect(report).toMatchObject({ result: { success: true }, approval: { by: '--allow src/**' } });
      expect(await readFile(join(project, 'src/a.txt'), 'utf8')).toBe('x\n');
      process.emit('SIGTERM');
      expect(await running).toBe(EXIT.ok);
      expect(out.text).toBe('connected\n');
      const line = err.text.split('\n').find((text) => text.startsWith('{'))!;
      expect(JSON.parse(line)).toMatchObject({
        event: 'Tool.CreateFile.Executed',
        ...{ sessionId: 's1', conversationId: 'v1', turnId: 't1', toolCallId: 'c1', callId: 'k1' },
        ...{ path: 'src/a.txt', overwrite: false, success: true, errorCode: null, sizeBytes: 2 },
      });
    });

    it('patches what is allowed, logs it as a JSON line, and uploads it', async () => {
      await mkdir(join(project, 'Src'));
      await writeFile(join(project, 'Src', 'A.txt'), 'x\n');
      const running = patchbay(['connect', '--root', project, '--allow', 'Src/**']);
      await connected();
      const folder = project.split('/').at(-1)!;
      const patch = {
        filePatchId: 'f1',
        docPath: `${folder.toLowerCase()}/src/a.txt`,
        originalSha256: sha256('x\n'),
      };
      const change = { changeId: 'c1', operation: 'insert', afterLine: 1, newLines: ['y'] };
      const parsed = parsePatchBatch(
        { batchId: 'b1', files: [{ ...patch, changes: [change] }] },
        { trusted: true },
      );
      if (!parsed.ok) throw new Error('The batch is not sound.');
      const report = await deliver({}, { name: 'workspace_write_patch', batch: parsed.batch });
      expect(report).toMatchObject({
        result: { success: true, batchId: 'b1', files: [{ status: 'applied', versionId: 'v1' }] },
        approval: { decision: 'allow', by: '--allow Src/**' },
      });
      expect(await readFile(join(project, 'Src', 'A.txt'), 'utf8')).toBe('x\ny\n');
      expect(uploads).toEqual([`/${folder}/Src/A.txt`]);
      process.emit('SIGTERM');
      expect(await running).toBe(EXIT.ok);
      const line = err.text.split('\n').find((text) => text.startsWith('{'))!;
      expect(JSON.parse(line)).toMatchObject({
        event: 'Tool.WritePatch.Executed',
        ...{
          toolCallId: 'c1',
          callId: 'k1',
          batchId: 'b1',
          files: 1,
          applied: 1,
          success: true,
          errorCode: null,
        },
      });
      expect(err.text).toContain('patch Src/A.txt (1 change: +1 -0 lines), allowed by --allow Src/**');
    });

    it('writes nothing without a terminal where no rule allows it, and waits', async () => {
      const running = patchbay(['connect', '--root', project, '--allow', 'src/**']);
      await connected();
      void deliver({ path: 'other.txt', content: 'x\n' });
      for (let i = 0; statuses.length === 0 && i < 300; i++) await new Promise((r) => setTimeout(r, 10));
      expect(statuses).toEqual(['awaiting_approval']);
      process.emit('SIGINT');
      expect(await running).toBe(EXIT.ok);
      await expect(readFile(join(project, 'other.txt'))).rejects.toThrow('ENOENT');
    });

    it('is the same client at every start in a folder, and another in another', async () => {
      for (const root of [project, project, tmpdir()]) {
        const folder = root === project ? root : join(project, 'inner');
        await mkdir(folder, { recursive: true });
        const running = patchbay(['connect', '--root', folder]);
        await connected();
        process.emit('SIGINT');
        await running;
      }
      const [first, second, third] = clientIds;
      expect(second).toBe(first);
      expect(third).not.toBe(first);
    });

    it('does not run twice in one folder', async () => {
      const running = patchbay(['connect', '--root', project]);
      await connected();
      expect(await patchbay(['connect', '--root', project])).toBe(EXIT.replaced);
      expect(err.text).toMatch(/^patchbay: Another patchbay client \(process \d+\)/);
      process.emit('SIGINT');
      await running;
    });

    it('lets no call into the data of a server that lies in its folder, and says so once', async () => {
      const data = join(project, 'server', '.patchbay');
      await mkdir(data, { recursive: true });
      await writeFile(join(data, 'patchbay.db'), '');
      const running = patchbay(['connect', '--root', project, '--yes']);
      await connected();
      const report = await deliver({ path: 'server/.Patchbay/jwt-secret', content: 'x' });
      expect(report.result).toMatchObject({ success: false, errorCode: 'InvalidPath' });
      process.emit('SIGTERM');
      expect(await running).toBe(EXIT.ok);
      expect(err.text.match(/Calls may not write into .*server\/\.patchbay/g)).toHaveLength(1);
    });

    it.each(['', '1'])('takes PATCHBAY_MAX_FILE_BYTES=%p, of which an empty one is unset', async (limit) => {
      process.env.PATCHBAY_MAX_FILE_BYTES = limit;
      const running = patchbay(['connect', '--root', project, '--yes']).finally(
        () => delete process.env.PATCHBAY_MAX_FILE_BYTES,
      );
      await connected();
      const report = await deliver({ path: 'a.txt', content: 'xx' });
      expect(report.result).toMatchObject({ errorCode: limit === '' ? null : 'TooLarge' });
      process.emit('SIGTERM');
      expect(await running).toBe(EXIT.ok);
    });

    it('refuses a folder that holds its own home', async () => {
      expect(await patchbay(['connect', '--root', home])).toBe(EXIT.usage);
      expect(err.text).toContain('set PATCHBAY_HOME elsewhere');
    });

    it('says in one line that the server does not let it in', async () => {
      io.of('/relay').use((_socket, next) =>
        next(Object.assign(new Error('No.'), { data: { code: 'FORBIDDEN', message: 'You are no member.' } })),
      );
      expect(await patchbay(['connect', '--root', project])).toBe(EXIT.refused);
      expect(err.text).toMatch(/^patchbay: You are no member\. Ask an owner/);
    });
  });

  it('tells what it can do', async () => {
    expect(await patchbay(['--help'])).toBe(EXIT.ok);
    expect(out.text).toContain('Exit codes: 0 done');
  });

  it.each([
    ['an unknown command', ['--bogus']],
    ['a server that is no URL', ['login', '--url', 'localhost', '--email', 'a@b']],
    ['a limit that is no number', ['audit', '--limit', 'x']],
    ['a truth that is none', ['audit', '--success', 'maybe']],
  ])('refuses %s with exit code 2', async (_what, args) => {
    expect(await patchbay(args)).toBe(EXIT.usage);
  });

  it('says that the server does not answer', async () => {
    await loginAs();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
    expect(await loginAs()).toBe(EXIT.unreachable);
    expect(err.text).toContain('Is the server running, and --url right?');
  });

  it('prints no stack unless asked for', async () => {
    expect(await patchbay(['turn', 'missing.json'])).toBe(EXIT.usage);
    expect(err.text).not.toContain('    at ');
    await patchbay(['turn', 'missing.json'], { env: { DEBUG: '1' } });
    expect(err.text).toContain('    at ');
  });
});
