/** What a tool that makes up requests needs of a server: a user, a workspace, and one of each thing that has an id. */
import { createHash, randomUUID } from 'node:crypto';

const TEXT = 'one\ntwo\nthree\n';
const sha256 = (text) => createHash('sha256').update(text).digest('hex');

/** Requests of one user; an answer that is none of what was hoped for ends the fixture. */
class Caller {
  constructor(url, token) {
    this.url = url;
    this.token = token;
  }

  async ask(method, path, body) {
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(this.token && { authorization: `Bearer ${this.token}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return JSON.parse(text);
  }
}

async function register(url) {
  const account = { email: `${randomUUID()}@example.com`, password: randomUUID() };
  const { user, accessToken } = await new Caller(url).ask('POST', '/auth/register', account);
  return { ...account, id: user.id, token: accessToken };
}

/** A call of each kind, that a client would have to run: one patch, one new file. */
function openCalls(docPath) {
  const change = {
    operation: 'replace',
    startLine: 2,
    endLine: 2,
    expectedOriginalLines: ['two'],
    newLines: ['TWO'],
  };
  const file = { docPath, originalSha256: sha256(TEXT), changes: [change] };
  return [
    { toolCallId: 'patch', name: 'workspace_write_patch', arguments: { files: [file] } },
    {
      toolCallId: 'create',
      name: 'workspace_create_file',
      arguments: { path: 'repo/new.txt', content: 'new\n' },
    },
  ];
}

/**
 * Registers and makes all of it.
 * @returns the token, the email of a member, a workspace of which nothing is needed, and by the name that docs/openapi.json gives to a parameter the values that are there
 */
export async function buildFixture(url) {
  const [owner, member] = [await register(url), await register(url)];
  const caller = new Caller(url, owner.token);
  const { id: workspaceId } = await caller.ask('POST', '/workspaces', { name: 'Fixture' });
  const { id: spareWorkspaceId } = await caller.ask('POST', '/workspaces', { name: 'Spare' });
  const below = `/workspaces/${workspaceId}`;
  await caller.ask('POST', `${below}/members`, { email: member.email, role: 'member' });
  const { sessionId } = await caller.ask('POST', `${below}/sessions`, {});
  const write = (path, text) =>
    caller.ask('POST', `${below}/tools`, { tool: 'write', args: { path, content: { text } } });
  for (const text of ['zero\n', TEXT]) await write('/repo/a.txt', text);
  await write('/a.txt', TEXT);
  const turns = `${below}/sessions/${sessionId}/turns`;
  const turnIds = [];
  for (const turnId of ['open', 'cancelled', 'reported']) {
    const { result } = await caller.ask('POST', turns, {
      turnId,
      toolCalls: openCalls('repo/a.txt'),
      waitMs: 0,
    });
    turnIds.push(result.turnId);
  }
  await caller.ask('POST', `${turns}/cancelled/cancel`);
  const batch = await applied(caller, below, `${turns}/reported`);
  await caller.ask('PUT', `${below}/roots/repo`, { name: 'repo', rootId: randomUUID() });
  const { files } = await caller.ask('GET', `${below}/files`);
  const fileIds = files.map(({ fileId }) => fileId);
  const { versions } = await caller.ask('GET', `${below}/files/${fileIds[0]}/versions`);
  return {
    ...{ token: owner.token, email: member.email, spareWorkspaceId },
    ids: {
      ...{
        workspaceId: [workspaceId],
        sessionId: [sessionId],
        turnId: turnIds,
        toolCallId: ['patch', 'create'],
      },
      ...{ userId: [member.id], fileId: fileIds, versionId: versions.map(({ versionId }) => versionId) },
      ...{ batchId: [batch.batchId], changeId: batch.files[0].changes.map(({ changeId }) => changeId) },
      ...{ sha256: [sha256(TEXT)], path: ['a.txt'], docPath: ['repo'] },
    },
  };
}

/** Reports the patch of a turn as applied, so that it can be undone; the batch as it is stored. */
async function applied(caller, below, turn) {
  const { events } = await caller.ask('GET', `${below}/audit?turnId=reported&toolCallId=patch`);
  const { batchId } = events.find(({ fields }) => fields.batchId).fields;
  const batch = await caller.ask('GET', `${below}/patches/${batchId}`);
  const patched = TEXT.replace('two', 'TWO');
  const args = { path: '/repo/a.txt', content: { text: patched } };
  await caller.ask('POST', `${below}/tools`, { tool: 'write', args });
  const files = batch.files.map(({ filePatchId, changes }) => ({
    ...{ filePatchId, status: 'applied', newSha256: sha256(patched) },
    changes: changes.map(({ changeId }) => ({ changeId, status: 'applied' })),
  }));
  const result = { success: true, batchId, files };
  await caller.ask('POST', `${turn}/results`, { results: [{ toolCallId: 'patch', result }] });
  return batch;
}
