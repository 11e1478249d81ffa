import { sha256 } from '@patchbay/protocol/hash';
import { keepSecret } from '../support/log-watch.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { startTestServer, type TestServer } from '../support/server.js';

/** Each in one place of what users and clients send; none of them may come into a log of any level. */
const NEVER = {
  email: 'marker-email@example.com',
  name: 'MARKER Full Name',
  text: 'MARKER text of a file, long enough to be one',
  note: 'MARKER note of a person who decides',
  guess: 'MARKER guessed password',
  query: 'MARKER-in-a-query-string',
};
/** Paths may be in lines of `debug`, as the debugger of a server needs them; not from `info` on. */
const PATH = 'MarkerFolder/MarkerFile.ts';

// A file of its own: nestjs-pino keeps one logger a process, that of the first app.
describe('a log', () => {
  const lines: { level: number; text: string }[] = [];
  let server: TestServer;
  let fixture: RelayFixture;

  beforeAll(async () => {
    for (const [what, text] of Object.entries(NEVER)) keepSecret(text, `the planted ${what}`);
    server = await startTestServer({
      config: { logLevel: 'trace' },
      logDestination: {
        write: (text: string) =>
          void lines.push({ level: (JSON.parse(text) as { level: number }).level, text }),
      },
    });
    const user = await server.register(NEVER.email, NEVER.name);
    fixture = await RelayFixture.on(server, user);
  });
  afterAll(async () => {
    await fixture.close();
    await server.close();
  });

  const expectClean = (): void => {
    for (const { level, text } of lines) {
      for (const planted of [...Object.values(NEVER), fixture.user.token])
        expect(text).not.toContain(planted);
      if (level >= 30) expect(text.toLowerCase()).not.toContain('marker');
    }
  };

  it('contains no emails, tokens, notes and texts of calls that a client ends, at any level [AUDIT-3]', async () => {
    const client = await fixture.client({ clientId: 'laptop' });
    await fixture.post([createCall('done', PATH, NEVER.text), createCall('denied', PATH, NEVER.text)]);
    const [done, denied] = [await client.delivery(1), await client.delivery(2)];
    await client.status(done, 'awaiting_approval', NEVER.note);
    await client.report(done);
    const approval = { decision: 'deny', by: NEVER.email, at: '2025-06-01T12:00:00Z', note: NEVER.note };
    await client.report(denied, { result: null, approval });
    await client.report(done, { result: { success: NEVER.text } }).catch(() => undefined);
    expect(
      lines.filter(({ level, text }) => level === 20 && text.includes(done.callId)).length,
    ).toBeGreaterThan(2);
    expect(lines.filter(({ level, text }) => level >= 30 && text.includes(done.callId))).toEqual([]);
    expectClean();
  });

  it('contains no paths and texts of files that are read, written, patched and rejected [AUDIT-3]', async () => {
    const { user, workspaceId } = fixture;
    const base = `/workspaces/${workspaceId}`;
    const tool = (name: string, args: object) => user.post(`${base}/tools`, { tool: name, args });
    await tool('write', { path: PATH, content: { text: NEVER.text } });
    await tool('write', { path: `${PATH}/below`, content: NEVER.text });
    await tool('read', { path: `${PATH}.gone` });
    await tool('edit', { path: PATH, oldString: `${NEVER.text} gone`, newString: NEVER.text });
    await user.get(`${base}/contents/${PATH}`);
    await user.get(`${base}/contents/${PATH}.gone?versionId=${NEVER.query}`);
    await user.get(`${base}/audit?path=${PATH}&colour=${NEVER.query}`);
    await user.request('PUT', `${base}/contents/${PATH}`, NEVER.text);
    const change = {
      operation: 'replace',
      startLine: 1,
      endLine: 1,
      expectedOriginalLines: [`${NEVER.text} gone`],
      newLines: [NEVER.text],
    };
    const file = { docPath: PATH.toLowerCase(), originalSha256: sha256(NEVER.text), changes: [change] };
    await fixture.post([
      { toolCallId: 'patch', name: 'workspace_write_patch', arguments: { files: [file] } },
      { toolCallId: 'unknown', name: NEVER.text, arguments: { path: PATH } },
    ]);
    expect(lines.some(({ level }) => level >= 30)).toBe(true);
    expectClean();
  });

  it('contains no emails, passwords and tokens of rejected requests and handshakes [AUDIT-3]', async () => {
    const login = (email: string) => server.request('POST', '/auth/login', { email, password: NEVER.guess });
    await login(NEVER.email);
    await login(`nobody-${NEVER.email}`);
    await server.request('POST', '/auth/register', { email: NEVER.email, password: NEVER.guess });
    await server.request('POST', `/${NEVER.query}?token=${fixture.user.token}`, NEVER.text);
    const members = `/workspaces/${fixture.workspaceId}/members`;
    await fixture.user.post(members, { email: `nobody-${NEVER.email}`, role: NEVER.name });
    await fixture.user.post(members, { email: `nobody-${NEVER.email}`, role: 'member' });
    await fixture.client({ token: `${fixture.user.token}x` }).catch(() => undefined);
    await fixture.client({ auth: { name: NEVER.name, roots: [NEVER.text] } }).catch(() => undefined);
    expect(lines.filter(({ text }) => text.includes('A handshake was refused'))).toHaveLength(2);
    expectClean();
  });
});
