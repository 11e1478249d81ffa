import type { Member, Workspace, WorkspacePage } from '@patchbay/protocol';
import { suiteFixture } from '../support/fixtures.js';
import { startTestServer, type TestUser } from '../support/server.js';
import { newId } from '../../src/common/ids.js';
import { Bus } from '../../src/events/bus.js';
import type { BusMessage } from '../../src/events/messages.js';
import { EVERY_NODE } from '../../src/events/channels.js';

describe('workspaces', () => {
  const server = suiteFixture(() => startTestServer());
  let ada: TestUser;
  let ben: TestUser;

  beforeAll(async () => {
    [ada, ben] = await Promise.all([server.register(undefined, 'Ada'), server.register()]);
  });

  it('belong to their creator', async () => {
    const { status, body } = await ada.post<Workspace>('/workspaces', { name: 'Engine' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      name: 'Engine',
      role: 'owner',
      owners: [{ id: ada.id, email: ada.email, fullName: 'Ada' }],
      createdBy: ada.id,
      approvals: [],
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
    });
    expect((await ada.get(`/workspaces/${body.id}`)).body).toEqual(body);
    expect((await ada.get<{ workspaces: Workspace[] }>('/workspaces')).body.workspaces).toContainEqual(body);
  });

  it('are visible to their members only, each with the own role', async () => {
    const { id } = await ada.createWorkspace();
    expect((await ben.get<{ workspaces: Workspace[] }>('/workspaces')).body).toEqual({
      ...{ workspaces: [], nextCursor: null },
    });
    await ada.addMember(id, ben);
    expect((await ben.get<Workspace>(`/workspaces/${id}`)).body.role).toBe('member');
    await ada.request('DELETE', `/workspaces/${id}/members/${ben.id}`);
  });

  it('name their creator and come in pages, own workspaces first [MEMBER-1]', async () => {
    const [zoe, max] = await Promise.all([server.register(undefined, 'Zoe'), server.register()]);
    const foreign = await zoe.createWorkspace('of Zoe');
    await zoe.addMember(foreign.id, max, 'owner');
    const own = await max.createWorkspace('of Max');
    const first = await max.get<WorkspacePage>('/workspaces?limit=1');
    expect(first.body).toMatchObject({ workspaces: [{ id: own.id, createdBy: max.id }], nextCursor: own.id });
    const second = await max.get<WorkspacePage>(`/workspaces?limit=1&cursor=${own.id}`);
    const owners = [
      { id: zoe.id, email: zoe.email, fullName: 'Zoe' },
      { id: max.id, email: max.email, fullName: null },
    ];
    expect(second.body).toMatchObject({
      ...{ workspaces: [{ id: foreign.id, createdBy: zoe.id, owners }], nextCursor: null },
    });
    expect((await max.get('/workspaces?limit=501')).status).toBe(400);
  });

  it.each([
    ['no name', {}, { name: 'is required' }],
    ['a blank name', { name: ' ' }, { name: 'must not be blank' }],
    ['a name with a control character', { name: 'a\u0000' }, { name: 'must not have control characters' }],
    ['something more', { name: 'a', owner: 'b' }, { owner: 'is not a known property' }],
  ])('are rejected with %s', async (_, body, fields) => {
    const answer = await ada.post('/workspaces', body);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ error: expect.any(String) as string, code: 'VALIDATION_ERROR', fields });
  });
});

describe('access to a workspace', () => {
  const server = suiteFixture(() => startTestServer());
  let ada: TestUser;
  let ben: TestUser;
  let id: string;

  beforeAll(async () => {
    [ada, ben] = await Promise.all([server.register(), server.register()]);
    ({ id } = await ada.createWorkspace());
  });

  it('is refused to others in the same way whether the workspace exists or not [REQ-4]', async () => {
    const refusal = { error: 'Access forbidden: User is not a member of this workspace', code: 'FORBIDDEN' };
    expect(await ben.get(`/workspaces/${id}`)).toMatchObject({ status: 403, body: refusal });
    expect(await ben.get(`/workspaces/${newId()}`)).toMatchObject({ status: 403, body: refusal });
  });

  it('needs an id that is a UUID, in any case', async () => {
    expect(await ada.get('/workspaces/engine')).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR' },
    });
    expect((await ada.get<Workspace>(`/workspaces/${id.toUpperCase()}`)).body.id).toBe(id);
  });

  it('checks the token before the id [REQ-2]', async () => {
    const { status, body } = await server.request('GET', '/workspaces/engine');
    expect({ status, body }).toEqual({
      status: 401,
      body: { error: 'No valid token found in Authorization header or cookie', code: 'INVALID_TOKEN' },
    });
  });

  it('lets only owners change members', async () => {
    await ada.addMember(id, ben);
    const path = `/workspaces/${id}/members`;
    const email = ada.email;
    for (const answer of [
      await ben.get(path),
      await ben.post(path, { email, role: 'member' }),
      await ben.request('PUT', `${path}/${ada.id}`, { role: 'member' }),
      await ben.request('DELETE', `${path}/${ada.id}`),
    ]) {
      expect(answer).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    }
    // Nothing is read of what only an owner may send.
    expect((await ben.post(path, Buffer.alloc(17 * 1024 * 1024))).status).toBe(403);
  });
});

describe('members', () => {
  const server = suiteFixture(() => startTestServer());
  let ada: TestUser;
  let ben: TestUser;
  let path: string;
  let workspaceId: string;

  beforeAll(async () => {
    [ada, ben] = await Promise.all([server.register(undefined, 'Ada'), server.register()]);
  });
  beforeEach(async () => {
    workspaceId = (await ada.createWorkspace()).id;
    path = `/workspaces/${workspaceId}/members`;
  });

  it('are added by email in any case and listed in the order of joining', async () => {
    const added = await ada.post<Member>(path, { email: ben.email.toUpperCase(), role: 'member' });
    expect(added).toMatchObject({ status: 201, body: { userId: ben.id, email: ben.email, role: 'member' } });
    const { body } = await ada.get<{ members: Member[] }>(path);
    expect(body.members).toEqual([
      {
        userId: ada.id,
        email: ada.email,
        fullName: 'Ada',
        role: 'owner',
        addedAt: expect.any(String) as string,
      },
      added.body,
    ]);
  });

  it('are added once, and only when they have an account', async () => {
    await ada.addMember(workspaceId, ben);
    expect(await ada.post(path, { email: ben.email, role: 'owner' })).toMatchObject({ status: 409 });
    expect(await ada.post(path, { email: 'nobody@example.com', role: 'member' })).toMatchObject({
      status: 404,
    });
    expect(await ada.post(path, { email: ben.email, role: 'king' })).toMatchObject({
      status: 400,
      body: { fields: { role: 'must be one of the following values: owner, member' } },
    });
  });

  it('may become owners with their rights', async () => {
    await ada.addMember(workspaceId, ben);
    const answer = await ada.request<Member>('PUT', `${path}/${ben.id}`, { role: 'owner' });
    expect(answer).toMatchObject({ status: 200, body: { userId: ben.id, role: 'owner' } });
    expect(await ben.request('PUT', `${path}/${ada.id}`, { role: 'member' })).toMatchObject({ status: 200 });
    expect(await ada.get(path)).toMatchObject({ status: 403 });
  });

  it('may give up the owner role themselves', async () => {
    await ada.addMember(workspaceId, ben, 'owner');
    const answer = await ada.request<Member>('PUT', `${path}/${ada.id}`, { role: 'member' });
    expect(answer).toMatchObject({ status: 200, body: { userId: ada.id, role: 'member' } });
  });

  it('always include an owner', async () => {
    await ada.addMember(workspaceId, ben);
    expect(await ada.request('PUT', `${path}/${ada.id}`, { role: 'member' })).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT' },
    });
    expect(await ada.request('DELETE', `${path}/${ada.id}`)).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT' },
    });
  });

  it('lose access with their membership, and open connections are told', async () => {
    await ada.addMember(workspaceId, ben);
    const received: BusMessage[] = [];
    server.app.get(Bus, { strict: false }).subscribe(EVERY_NODE, (message) => received.push(message));
    expect(await ada.request('DELETE', `${path}/${ben.id}`)).toMatchObject({ status: 204, body: '' });
    expect(received).toEqual([{ type: 'member_removed', workspaceId, userId: ben.id }]);
    expect(await ben.get(`/workspaces/${workspaceId}`)).toMatchObject({ status: 403 });
    expect(await ada.request('DELETE', `${path}/${ben.id}`)).toMatchObject({ status: 404 });
    expect(await ada.request('DELETE', `${path}/ben`)).toMatchObject({
      status: 400,
      body: { fields: { userId: 'is not a UUID' } },
    });
  });

  it('can be changed concurrently without losing a change', async () => {
    const users = await Promise.all(Array.from({ length: 6 }, () => server.register()));
    const answers = await Promise.all(
      users.map((user) => ada.post(path, { email: user.email, role: 'member' })),
    );
    expect(answers.map(({ status }) => status)).toEqual(users.map(() => 201));
    expect((await ada.get<{ members: Member[] }>(path)).body.members).toHaveLength(7);
  });

  it('keep an owner when two owners remove each other at once', async () => {
    await ada.addMember(workspaceId, ben, 'owner');
    const answers = await Promise.all([
      ada.request('DELETE', `${path}/${ben.id}`),
      ben.request('DELETE', `${path}/${ada.id}`),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 403]);
  });
});
