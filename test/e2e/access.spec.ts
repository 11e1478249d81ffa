import { handlersOf } from '../support/route-rules.js';
import { PASSWORD, startTestServer, type TestServer, type TestUser } from '../support/server.js';

const NO_TOKEN = { error: 'No valid token found in Authorization header or cookie', code: 'INVALID_TOKEN' };

describe('access rules', () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  it('are declared by every route and every relay event', () => {
    const handlers = handlersOf(server.app);
    expect(handlers.length).toBeGreaterThan(10);
    const events = handlers.filter(({ kind }) => kind === 'event').map(({ name }) => name);
    expect(events).toEqual(expect.arrayContaining(['RelayGateway.resume', 'RelayGateway.result']));
    expect(handlers.filter(({ rule }) => rule === undefined)).toEqual([]);
  });

  it('fit what they protect: events belong to clients, routes never do', () => {
    const misfits = handlersOf(server.app).filter(
      ({ kind, rule }) => (kind === 'event') !== (rule === 'client'),
    );
    expect(misfits).toEqual([]);
  });

  it('leave only accounts and health open to everyone', () => {
    const open = handlersOf(server.app).filter(({ rule }) => rule === 'public');
    expect(open.map(({ name }) => name).sort()).toEqual([
      'AuthController.login',
      'AuthController.logout',
      'AuthController.refresh',
      'AuthController.register',
      'HealthController.live',
      'HealthController.ready',
    ]);
  });

  it('leave to owners who belongs to a workspace and how it is set up', () => {
    const owners = handlersOf(server.app).filter(({ rule }) => rule === 'owner');
    expect(owners.map(({ name }) => name).sort()).toEqual([
      'MembersController.add',
      'MembersController.list',
      'MembersController.setRole',
      'WorkspacesController.change',
    ]);
  });
});

describe('a token', () => {
  let server: TestServer;
  let ada: TestUser;

  beforeAll(async () => {
    server = await startTestServer({ config: { origins: ['https://editor.example.com'] } });
    ada = await server.register();
  });
  afterAll(() => server.close());

  const list = (headers: Record<string, string>) => server.request('GET', '/workspaces', undefined, headers);
  const create = (headers: Record<string, string>) =>
    server.request('POST', '/workspaces', { name: 'w' }, headers);

  it.each(['Bearer', 'bearer', 'BEARER'])(
    'is taken from the Authorization header under the scheme %s [REQ-3]',
    async (scheme) => {
      expect((await list({ authorization: `${scheme} ${ada.token}` })).status).toBe(200);
    },
  );

  it('is else taken from the cookie access_token, among others [REQ-3]', async () => {
    expect((await list({ cookie: `a=b; access_token=${ada.token}; c=d` })).status).toBe(200);
  });

  it.each([
    ['no header and no cookie', {}],
    ['an empty Bearer', { authorization: 'Bearer' }],
    ['a Bearer that is no token', { authorization: 'Bearer nonsense' }],
    ['another cookie', { cookie: 'token=x' }],
    ['an empty cookie', { cookie: 'access_token=' }],
    ['another scheme', { authorization: 'Basic YTpi' }],
  ])('is missed with %s', async (_, headers) => {
    const { status, body } = await list(headers);
    expect({ status, body }).toEqual({ status: 401, body: NO_TOKEN });
  });

  it.each(['Bearer nonsense', 'Bearer'])(
    'that is wrong or missing in the header "%s" is not made good by a cookie [REQ-3]',
    async (authorization) => {
      expect((await list({ authorization, cookie: `access_token=${ada.token}` })).status).toBe(401);
    },
  );

  it('in the cookie counts where the header has another scheme', async () => {
    const headers = { authorization: 'Basic YTpi', cookie: `access_token=${ada.token}` };
    expect((await list(headers)).status).toBe(200);
  });

  it('in a cookie does not write for a page of another site [REQ-3]', async () => {
    const cookie = `access_token=${ada.token}`;
    const foreign = { cookie, origin: 'https://evil.example.com' };
    expect(await create(foreign)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    for (const origin of ['null', 'https://editor.example.com.evil.example.com'])
      expect((await create({ cookie, origin })).status).toBe(403);
    expect((await list(foreign)).status).toBe(200);
  });

  it('in a cookie writes for our own page, for an allowed origin, and where there is none', async () => {
    const cookie = `access_token=${ada.token}`;
    expect((await create({ cookie, origin: server.url })).status).toBe(201);
    expect((await create({ cookie, origin: 'https://editor.example.com' })).status).toBe(201);
    expect((await create({ cookie })).status).toBe(201);
  });

  it('in the header writes from anywhere', async () => {
    const headers = { authorization: `Bearer ${ada.token}`, origin: 'https://evil.example.com' };
    expect((await create(headers)).status).toBe(201);
  });

  it('is asked for before the content type, the size and the form of the body are looked at [REQ-2]', async () => {
    const answers = [
      await server.request('POST', '/workspaces', '{', {}),
      await server.request('POST', '/workspaces', '{}', { 'content-type': 'not a type at all' }),
      await server.request('POST', '/workspaces', 'x', { 'content-type': 'text/plain' }),
      await server.request('POST', '/workspaces', Buffer.alloc(17 * 1024 * 1024), {}),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
  });

  it('is not needed to log in, even when a wrong one is sent along', async () => {
    const login = { email: ada.email, password: PASSWORD };
    const answer = await server.request('POST', '/auth/login', login, { authorization: 'Bearer nonsense' });
    expect(answer.status).toBe(200);
  });
});

describe('rate limits', () => {
  let server: TestServer;
  let ada: TestUser;

  beforeAll(async () => {
    server = await startTestServer({ config: { rateLimit: 3 } });
    ada = await server.register();
  });
  afterAll(() => server.close());

  it('stop a member who writes too much, and say when to go on', async () => {
    const { id } = await ada.createWorkspace();
    await ada.createWorkspace();
    await ada.createWorkspace();
    const refused = await ada.post('/workspaces', { name: 'w' });
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect((await ada.get(`/workspaces/${id}`)).status).toBe(200);
  });

  it('are each member’s own', async () => {
    const ben = await server.register();
    await ben.createWorkspace();
  });

  it('let ten times as many reads pass', async () => {
    const ben = await server.register();
    const answers = await Promise.all(Array.from({ length: 31 }, () => ben.get('/workspaces')));
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(1);
  });
});
