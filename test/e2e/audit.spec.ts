import type { AuditEvent, AuditPage, ErrorBody, Json } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { createdResult, failedResult } from '../support/fake-client.js';
import { suiteFixture, testFixture } from '../support/fixtures.js';
import { isOfTurn, readTrail } from '../support/invariants.js';
import { patchCall } from '../support/patch-fixture.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { type Answer, startTestServer } from '../support/server.js';

const SECRET = 'the content of a file';

describe('the audit trail', () => {
  const server = suiteFixture(() =>
    startTestServer({
      config: { logLevel: 'trace' },
      logDestination: { write: (line: string) => void lines.push(line) },
    }),
  );
  const user = suiteFixture(() => server.register());
  const fixture = testFixture(() => RelayFixture.on(server, user));
  const lines: string[] = [];

  const page = (query = '', who = user): Promise<Answer<AuditPage>> =>
    who.get(`/workspaces/${fixture.workspaceId}/audit${query}`);
  const trail = (query = ''): Promise<AuditEvent[]> => readTrail(user, fixture.workspaceId, query);
  const names = async (query: string): Promise<string[]> => (await trail(query)).map(({ name }) => name);

  /** Two turns in two sessions: `good` succeeds, `bad` fails, `no` is denied, `wrong` is not even valid. */
  async function history(): Promise<{ sessions: string[]; turns: string[] }> {
    const client = await fixture.client({ clientId: 'auditor' });
    const first = (
      await fixture.post([createCall('good', 'src/good.ts', SECRET), createCall('bad', 'src/bad.ts', SECRET)])
    ).body.result;
    await client.delivery(2);
    await client.report(client.calls[0]!);
    await client.report(client.calls[1]!, { result: failedResult(client.calls[1]!, 'FileExists') });
    await fixture.newSession();
    const second = (
      await fixture.post([
        createCall('no', 'src/good.ts', SECRET),
        {
          toolCallId: 'wrong',
          name: 'workspace_create_file',
          arguments: { path: 'src/wrong.ts', content: SECRET, mode: 7 },
        },
      ])
    ).body.result;
    const approval = { decision: 'deny', by: 'ada', at: '2025-06-01T12:00:00Z', note: 'no' };
    await client.report(await client.delivery(3), { result: null, approval });
    return { sessions: [first.sessionId, second.sessionId], turns: [first.turnId, second.turnId] };
  }

  it('records the documented fields of a delivery and of a result, and the actor [AUDIT-2] [AUDIT-5]', async () => {
    const client = await fixture.client({ clientId: 'editor-7' });
    await fixture.post([
      {
        toolCallId: 'c',
        name: 'workspace_create_file',
        arguments: { path: 'a/b.ts', content: SECRET, overwrite: true },
      },
    ]);
    const call = await client.delivery();
    await fixture.untilCall(call.turnId, 'c', 'acknowledged');
    await client.report(call);
    const [turnAccepted, accepted, forwarded, acknowledged, received, completed] = await trail();
    const { conversationId, sessionId } = fixture.session;
    const base = {
      eventId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      sessionId,
      conversationId,
      turnId: call.turnId,
      toolCallId: 'c',
      callId: call.callId,
      attempt: 1,
      actor: { userId: user.id, clientId: 'editor-7' },
    };
    const about = { toolName: 'workspace_create_file', path: 'a/b.ts' };
    const byServer = { userId: user.id, clientId: null };
    const ofTurn = { ...base, toolCallId: null, callId: null, attempt: null, actor: byServer };
    const ended = { status: 'completed', outcomes: { succeeded: 1 } };
    expect([turnAccepted, completed]).toEqual([
      { ...ofTurn, seq: 1, name: 'Turn.Accepted', fields: { callCount: 1 } },
      { ...ofTurn, seq: 6, name: 'Turn.Completed', fields: ended },
    ]);
    expect(accepted).toEqual({
      ...{ ...base, seq: 2, name: 'Tool.CreateFile.Accepted', attempt: null, actor: byServer },
      fields: { ...about, overwrite: true },
    });
    expect(forwarded).toEqual({
      ...base,
      seq: 3,
      name: 'Tool.CreateFile.Forwarded',
      fields: { ...about, overwrite: true },
    });
    expect(acknowledged).toEqual({ ...base, seq: 4, name: 'Tool.CreateFile.Acknowledged', fields: about });
    expect(received).toEqual({
      ...base,
      seq: 5,
      name: 'Tool.CreateFile.ResultReceived',
      fields: { ...about, success: true, errorCode: null, sizeBytes: SECRET.length, hash: sha256(SECRET) },
    });
  });

  it('can be filtered by session, conversation, turn, call, tool, event, success, code and path, alone and together [AUDIT-4]', async () => {
    const { sessions, turns } = await history();
    const everything = await trail();
    const callId = everything.find(({ toolCallId }) => toolCallId === 'bad')!.callId!;
    const select = (holds: (event: AuditEvent) => boolean): AuditEvent[] => everything.filter(holds);
    const cases: [query: string, holds: (event: AuditEvent) => boolean][] = [
      [`sessionId=${sessions[0]}`, (event) => event.sessionId === sessions[0]],
      [`sessionId=${sessions[0]!.toUpperCase()}`, (event) => event.sessionId === sessions[0]],
      [`conversationId=${fixture.session.conversationId}`, (event) => event.sessionId === sessions[1]],
      [`turnId=${turns[1]}`, (event) => event.turnId === turns[1]],
      ['toolCallId=bad', (event) => event.toolCallId === 'bad'],
      [`callId=${callId}`, (event) => event.callId === callId],
      [
        `callId=${callId.toUpperCase()}&success=false`,
        (event) => event.callId === callId && event.fields.success === false,
      ],
      ['clientId=auditor', (event) => event.actor.clientId === 'auditor'],
      ['toolName=workspace_create_file', (event) => !isOfTurn(event)],
      ['event=Turn.Completed', (event) => event.name === 'Turn.Completed'],
      ['event=Tool.CreateFile.Forwarded', (event) => event.name.endsWith('.Forwarded')],
      ['success=true', (event) => event.fields.success === true],
      ['success=false', (event) => event.fields.success === false],
      ['errorCode=FileExists', (event) => event.fields.errorCode === 'FileExists'],
      ['errorCode=DENIED', (event) => event.fields.errorCode === 'DENIED'],
      ['errorCode=INVALID_ARGUMENTS', (event) => event.toolCallId === 'wrong'],
      ['path=src/good.ts', (event) => event.fields.path === 'src/good.ts'],
      [`path=src/good.ts&sessionId=${sessions[1]}&success=false`, (event) => event.name.endsWith('.Denied')],
    ];
    for (const [query, holds] of cases) {
      const expected = select(holds);
      expect(expected.length).toBeGreaterThan(0);
      expect([query, await trail(`&${query}`)]).toEqual([query, expected]);
    }
    for (const query of [
      'toolName=other',
      'toolName=workspace_create_fil',
      'event=File.Deleted',
      'event=Turn.Cancelled',
      'event=Tool.FormerTool.Forwarded',
      'errorCode=STALE',
      'errorCode=HashFailed',
      'turnId=nothing',
      'clientId=auditor-2',
      `batchId=${callId}`,
      `callId=${callId}&turnId=${turns[1]}`,
      'path=src',
      `toolCallId=bad&turnId=${turns[1]}`,
    ]) {
      expect([query, await names(`&${query}`)]).toEqual([query, []]);
    }
  });

  it('can be filtered by time, both ends included, in any time zone [AUDIT-4]', async () => {
    await history();
    const everything = await trail();
    const times = everything.map(({ at }) => at);
    const [from, to] = [times[2]!, times.at(-2)!];
    const within = everything.filter(({ at }) => at >= from && at <= to);
    expect(await trail(`&from=${from}&to=${to}`)).toEqual(within);
    const zoned = new Date(Date.parse(from) + 2 * 3_600_000).toISOString().replace('Z', '%2B02:00');
    expect(await trail(`&from=${zoned}&to=${to}`)).toEqual(within);
    expect(await trail(`&from=${from.replace('Z', '')}&to=${to}`)).toEqual(within);
    expect(await trail('&to=2020-01-01')).toEqual([]);
    expect(await trail('&from=2020-01-01')).toEqual(everything);
    expect(await trail(`&from=${to}&to=2020-01-01`)).toEqual([]);
  });

  it('comes in pages and marks the last one [AUDIT-4]', async () => {
    await history();
    const everything = await trail();
    const collected: AuditEvent[] = [];
    let cursor = '';
    for (;;) {
      const { body } = await page(`?limit=4${cursor}`);
      expect(body.events.length).toBeLessThanOrEqual(4);
      collected.push(...body.events);
      if (body.nextCursor === null) break;
      cursor = `&cursor=${body.nextCursor}`;
    }
    expect(collected).toEqual(everything);
    const exact = await page(`?limit=${everything.length}`);
    expect(exact.body).toEqual({ events: everything, nextCursor: null });
    const filtered = await page('?limit=1&event=Tool.CreateFile.Forwarded');
    const next = await page(`?limit=500&event=Tool.CreateFile.Forwarded&cursor=${filtered.body.nextCursor}`);
    expect([...filtered.body.events, ...next.body.events].map(({ toolCallId }) => toolCallId)).toEqual([
      'good',
      'bad',
      'no',
    ]);
  });

  it.each([
    ['cursor=x', 'cursor'],
    ['cursor=', 'cursor'],
    [`cursor=${Buffer.from('seq:-1').toString('base64url')}`, 'cursor'],
    ['limit=0', 'limit'],
    ['limit=501', 'limit'],
    ['limit=many', 'limit'],
    ['success=maybe', 'success'],
    ['sessionId=mine', 'sessionId'],
    ['callId=mine', 'callId'],
    ['batchId=mine', 'batchId'],
    ['from=yesterday', 'from'],
    ['from=2025-02-30T00:00:00Z', 'from'],
    ['to=2025-W10-1', 'to'],
    ['to=20250101T000000Z', 'to'],
    ['to=7', 'to'],
    ['colour=red', 'colour'],
    ['event=a&event=b', 'event'],
  ])('rejects a query with %s', async (query, field) => {
    expect(await page(`?${query}`)).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR', fields: { [field]: expect.any(String) as string } },
    });
  });

  it.each([
    ['event=Nope', 'event', 'File.Created, '],
    ['event=Forwarded', 'event', 'Tool.<Tool>.<Step> with the steps Accepted, '],
    ['event=File.Create', 'event', 'did you mean File.Created?'],
    ['event=Turn.Complete', 'event', 'did you mean Turn.Completed?'],
    ['event=file.created', 'event', 'did you mean File.Created?'],
    ['event=Tool.CreateFile.Fowarded', 'event', 'did you mean Tool.CreateFile.Forwarded?'],
    ['event=tool.CreateFile.forwarded', 'event', 'did you mean Tool.CreateFile.Forwarded?'],
    ['event=Tool..Forwarded', 'event', 'Forwarded'],
    ['event=Tool.CreateFile.', 'event', 'Forwarded'],
    ['errorCode=Nope', 'errorCode', 'known: UNKNOWN_TOOL, '],
    ['errorCode=fileexists', 'errorCode', 'did you mean FileExists?'],
    ['errorCode=INVALID_ARGUMENT&success=false', 'errorCode', 'did you mean INVALID_ARGUMENTS?'],
  ])('rejects a filter for a value that cannot occur: %s [AUDIT-10]', async (query, field, hint) => {
    await fixture.post([createCall('a')]);
    const answer = await page(`?${query}`);
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect((answer.body as unknown as ErrorBody).fields![field]).toContain(hint);
  });

  it('can be filtered by an error code that a client has made up, if an event has it [AUDIT-10]', async () => {
    const client = await fixture.client({ tools: ['workspace_write_patch'] });
    await fixture.post([patchCall([{}])]);
    const call = await client.delivery();
    const [file] = call.batch!.files;
    const failed = { status: 'failed', errorCode: 'EditorOnFire', newSha256: null };
    const { filePatchId, docPath, originalSha256 } = file!;
    const changes = file!.changes.map(({ changeId, operation }) => ({
      changeId,
      operation,
      status: 'failed',
    }));
    const files = [{ filePatchId, docPath, originalSha256, ...failed, changes }];
    const result = { success: false, batchId: call.batch!.batchId, files } as unknown as Json;
    expect(await client.report(call, { result })).toEqual({ ok: true });
    expect(await names('&errorCode=EditorOnFire')).toEqual(['Tool.WritePatch.ResultReceived']);
    expect((await page('?errorCode=EditorOnIce')).status).toBe(400);
  });

  it('is readable by every member and by nobody else', async () => {
    await fixture.post([createCall('a')]);
    const [member, stranger] = await Promise.all([server.register(), server.register()]);
    await user.addMember(fixture.workspaceId, member);
    expect((await page('', member)).body.events).toHaveLength(2);
    expect(await page('', stranger)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    expect((await server.request('GET', `/workspaces/${fixture.workspaceId}/audit`)).status).toBe(401);
  });

  it('holds no file contents, nor does the log, which has each event once at debug level [AUDIT-3]', async () => {
    lines.length = 0;
    await history();
    const client = fixture.clients[0]!;
    await fixture.post([createCall('edited', 'src/e.ts', SECRET)]);
    const call = await client.delivery(4);
    await client.status(call, 'running', 'about to write');
    const edit = {
      decision: 'edit',
      by: 'ada',
      at: '2025-06-01T12:00:00Z',
      editedArguments: { path: 'e2.ts', content: SECRET },
    };
    const result = { ...createdResult(call), message: SECRET };
    await client.report(call, { result, approval: edit });
    await client.report(call, { result, approval: edit });
    const events = await trail();
    expect(JSON.stringify(events)).not.toContain(SECRET);
    expect(lines.join('')).not.toContain(SECRET);
    expect(lines.join('')).not.toContain(user.token);
    const logged = lines.map(
      (line) => JSON.parse(line) as { eventId?: string; event?: string; msg?: string },
    );
    for (const { eventId, name } of events) {
      expect(logged.filter((line) => line.eventId === eventId)).toMatchObject([
        { event: name, msg: name, level: 20 },
      ]);
    }
    expect(logged.filter(({ eventId }) => eventId !== undefined)).toHaveLength(events.length);
  });

  it('truncates a long path that a client has made up', async () => {
    const client = await fixture.client();
    await fixture.post([createCall('a')]);
    const call = await client.delivery();
    await client.report(call, { result: { ...createdResult(call), path: 'x'.repeat(100_000) } });
    const [event] = await trail('&event=Tool.CreateFile.ResultReceived');
    expect((event!.fields.path as string).length).toBeLessThanOrEqual(1_024);
  });
});
