import { suiteFixture } from '../support/fixtures.js';
import { handlersOf } from '../support/route-rules.js';
import { PASSWORD, startTestServer } from '../support/server.js';

const NO_TOKEN = { error: 'No valid token found in Authorization header or cookie', code: 'INVALID_TOKEN' };

describe('access rules', () => {
  const server = suiteFixture(() => startTestServer());

  it('every route and every relay event declares its rule', () => {
    const handlers = handlersOf(server.app);
    expect(handlers.length).toBeGreaterThan(10);
    const events = handlers.filter(({ kind }) => kind === 'event').map(({ name }) => name);
    expect(events).toEqual(expect.arrayContaining(['RelayGateway.resume', 'RelayGateway.putFile']));
    expect(handlers.filter(({ rule }) => rule === undefined)).toEqual([]);
  });

  it('relay events have client rules and routes never do', () => {
    const misfits = handlersOf(server.app).filter(
      ({ kind, rule }) => (kind === 'event') !== (rule === 'client'),
    );
    expect(misfits).toEqual([]);
  });

  it('only the routes of accounts and health are open without a token', () => {
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

  it('only owners may change members and settings of a workspace', () => {
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
  const server = suiteFixture(() => startTestServer({ config: { origins: ['https://editor.example.com'] } }));
  const ada = suiteFixture(() => server.register());

  const list = (headers: Record<string, string>) => server.request('GET', '/workspaces', undefined, headers);
  const create = (headers: Record<string, string>) =>
    server.request('POST', '/workspaces', { name: 'w' }, headers);

  it.each(['Bearer', 'bearer', 'BEARER'])(
    'a token is read from the Authorization header under the scheme %s [REQ-3]',
    async (scheme) => {
      expect((await list({ authorization: `${scheme} ${ada.token}` })).status).toBe(200);
    },
  );

  it('a token is read from the cookie access_token where the header is absent [REQ-3]', async () => {
    expect((await list({ cookie: `a=b; access_token=${ada.token}; c=d` })).status).toBe(200);
  });

  it.each([
    ['no header and no cookie', {}],
    ['an empty Bearer', { authorization: 'Bearer' }],
    ['a Bearer that is no token', { authorization: 'Bearer nonsense' }],
    ['another cookie', { cookie: 'token=x' }],
    ['an empty cookie', { cookie: 'access_token=' }],
    ['another scheme', { authorization: 'Basic YTpi' }],
  ])('rejects a request with %s as one without a token', async (_, headers) => {
    const { status, body } = await list(headers);
    expect({ status, body }).toEqual({ status: 401, body: NO_TOKEN });
  });

  it.each(['Bearer nonsense', 'Bearer'])(
    'a cookie does not replace the wrong or missing token of the header "%s" [REQ-3]',
    async (authorization) => {
      expect((await list({ authorization, cookie: `access_token=${ada.token}` })).status).toBe(401);
    },
  );

  it('a token in the cookie is read where the header has another scheme', async () => {
    const headers = { authorization: 'Basic YTpi', cookie: `access_token=${ada.token}` };
    expect((await list(headers)).status).toBe(200);
  });

  it('rejects a write with a cookie from a page of another site [REQ-3]', async () => {
    const cookie = `access_token=${ada.token}`;
    const foreign = { cookie, origin: 'https://evil.example.com' };
    expect(await create(foreign)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    for (const origin of ['null', 'https://editor.example.com.evil.example.com'])
      expect((await create({ cookie, origin })).status).toBe(403);
    expect((await list(foreign)).status).toBe(200);
  });

  it('accepts a write with a cookie from the own page, from an allowed origin and without an origin', async () => {
    const cookie = `access_token=${ada.token}`;
    expect((await create({ cookie, origin: server.url })).status).toBe(201);
    expect((await create({ cookie, origin: 'https://editor.example.com' })).status).toBe(201);
    expect((await create({ cookie })).status).toBe(201);
  });

  it('accepts a write with a token in the header from every origin', async () => {
    const headers = { authorization: `Bearer ${ada.token}`, origin: 'https://evil.example.com' };
    expect((await create(headers)).status).toBe(201);
  });

  it('checks the token before the content type, the size and the form of the body [REQ-2]', async () => {
    const answers = [
      await server.request('POST', '/workspaces', '{', {}),
      await server.request('POST', '/workspaces', '{}', { 'content-type': 'not a type at all' }),
      await server.request('POST', '/workspaces', 'x', { 'content-type': 'text/plain' }),
      await server.request('POST', '/workspaces', Buffer.alloc(17 * 1024 * 1024), {}),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
  });

  it('logs in without a token and with a wrong one', async () => {
    const login = { email: ada.email, password: PASSWORD };
    const answer = await server.request('POST', '/auth/login', login, { authorization: 'Bearer nonsense' });
    expect(answer.status).toBe(200);
  });
});

describe('rate limits', () => {
  const server = suiteFixture(() => startTestServer({ config: { rateLimit: 3 } }));
  const ada = suiteFixture(() => server.register());

  it('reject the writes of a member over the limit, with Retry-After', async () => {
    const { id } = await ada.createWorkspace();
    await ada.createWorkspace();
    await ada.createWorkspace();
    const refused = await ada.post('/workspaces', { name: 'w' });
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect((await ada.get(`/workspaces/${id}`)).status).toBe(200);
  });

  it('count each member separately', async () => {
    const ben = await server.register();
    await ben.createWorkspace();
  });

  it('allow ten times as many reads as writes', async () => {
    const ben = await server.register();
    const answers = await Promise.all(Array.from({ length: 31 }, () => ben.get('/workspaces')));
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(1);
  });
});
