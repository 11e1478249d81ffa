import type { AuditEvent } from '@patchbay/protocol';
import { auditTable } from './audit-table.js';
import { EXIT } from './cli-error.js';
import { CliFixture, event, Screen, FOREIGN_WORKSPACE } from './program.sample.js';

const terminal = (columns: number) => Object.assign(new Screen(), { isTTY: true, columns });

describe('patchbay audit', () => {
  const fixture = new CliFixture();
  const { patchbay, loginAs } = fixture;
  beforeEach(() => fixture.open());
  afterEach(() => fixture.close());

  const AUDIT = 'GET /workspaces/w1/audit';
  const asked = (): URL => new URL(fixture.requests.at(-1)!.route.slice('GET '.length), fixture.url);

  it('prints a table that no name or field can break', async () => {
    await loginAs();
    const fields = { path: 'a\u001b[2J', success: true, hash: 'f'.repeat(64), errorCode: null };
    fixture.routes[AUDIT] = () => [200, { events: [event(1, fields)], nextCursor: null }];
    expect(await patchbay(['audit'])).toBe(EXIT.ok);
    expect(fixture.out.text).toBe(
      'seq  time                      who              event                           call  details\n' +
        '  1  2026-01-02 03:04:05.678Z  ada@example.com  Tool.CreateFile.ResultReceived  call  path=a\\x1b[2J success=true hash=ffffffffffff…\n',
    );
  });

  it('uses several rows per event in a window narrower than the table', async () => {
    const actor = { userId: 'u', clientId: 'laptop' };
    const events = [{ ...event(9, { path: 'a.txt' }), actor }, event(10)];
    const table = auditTable(events, new Map([['u', 'ada@example.com']]), terminal(80));
    expect(table.split('\n')).toEqual([
      '  9  2026-01-02 03:04:05.678Z  Tool.CreateFile.ResultReceived  call',
      '     ada@example.com (laptop)',
      '     path=a.txt',
      ' 10  2026-01-02 03:04:05.678Z  Tool.CreateFile.ResultReceived  call',
      '     ada@example.com',
    ]);
    expect(auditTable(events, new Map(), terminal(200))).toContain('seq  time');
  });

  it('rejects an invalid time before it asks the server', async () => {
    await loginAs();
    const before = fixture.requests.length;
    expect(await patchbay(['audit', '--since', 'yesterday'])).toBe(EXIT.usage);
    expect(fixture.err.text).toContain(
      'It must be a time, such as 2026-02-01T08:00Z, or how long ago, such as 7d.',
    );
    expect(fixture.requests).toHaveLength(before);
  });

  it('prints JSON lines from all pages up to the limit', async () => {
    await loginAs();
    fixture.routes[AUDIT] = ({ route }) =>
      route.includes('cursor=2')
        ? [200, { events: [event(3), event(4)], nextCursor: null }]
        : [200, { events: [event(1), event(2)], nextCursor: '2' }];
    await patchbay(['audit', '--json', '--limit', '3', '--turn-id', 't1', '--success', 'false']);
    const lines = fixture.out.text.trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as AuditEvent).seq)).toEqual([1, 2, 3]);
    expect(fixture.requests.at(-1)!.route).toContain('turnId=t1&success=false&limit=3');
  });

  it('filters by call, batch and client', async () => {
    await loginAs();
    fixture.routes[AUDIT] = () => [200, { events: [], nextCursor: null }];
    await patchbay(['audit', '--call-id', 'k1', '--batch-id', 'b1', '--client-id', 'laptop']);
    expect(fixture.requests.at(-1)!.route).toContain('callId=k1&batchId=b1&clientId=laptop');
  });

  it('names the user by email if allowed, else by id', async () => {
    await loginAs();
    const actors = [
      { userId: 'b', clientId: 'laptop\u001b[2J' },
      { userId: 'gone', clientId: null },
      { userId: null, clientId: null },
    ];
    const events = actors.map((actor, at) => ({ ...event(at + 1), actor }));
    fixture.routes[AUDIT] = () => [200, { events, nextCursor: null }];
    fixture.routes['GET /workspaces/w1'] = () => [200, { ...FOREIGN_WORKSPACE, id: 'w1' }];
    await patchbay(['audit']);
    expect(fixture.out.text).toContain('  bob@example.com (laptop\\x1b[2J)  Tool.');
    expect(fixture.out.text).toMatch(/Z {2}gone {20,}Tool\./);
    fixture.routes['GET /workspaces/w1/members'] = () => [
      200,
      { members: [{ userId: 'gone', email: 'former@example.com' }] },
    ];
    await patchbay(['audit']);
    expect(fixture.out.text).toContain('  former@example.com  ');
  });

  it('prints the newest events, oldest first', async () => {
    await loginAs();
    fixture.routes[AUDIT] = () => [200, { events: [event(9), event(8), event(7)], nextCursor: '7' }];
    await patchbay(['audit', '--json', '--last', '2', '--path', 'src/**']);
    const lines = fixture.out.text.trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as AuditEvent).seq)).toEqual([8, 9]);
    const { searchParams } = asked();
    expect(Object.fromEntries(searchParams)).toEqual({ path: 'src/**', order: 'desc', limit: '2' });
  });

  it.each([
    ['30m', 30 * 60_000],
    ['12h', 12 * 3_600_000],
    ['7d', 7 * 24 * 3_600_000],
    ['2w', 14 * 24 * 3_600_000],
  ])('prints events of the last %s', async (ago, ms) => {
    await loginAs();
    fixture.routes[AUDIT] = () => [200, { events: [], nextCursor: null }];
    const before = Date.now() - ms;
    await patchbay(['audit', '--since', ago]);
    const from = Date.parse(asked().searchParams.get('from')!);
    expect(from).toBeGreaterThanOrEqual(before);
    expect(from).toBeLessThanOrEqual(Date.now() - ms);
  });

  it('prints events since a date', async () => {
    await loginAs();
    fixture.routes[AUDIT] = () => [200, { events: [], nextCursor: null }];
    await patchbay(['audit', '--since', '2025-06-01']);
    expect(asked().searchParams.get('from')).toBe('2025-06-01');
  });

  it('prints CSV: a header, then one row per event, ended by CRLF', async () => {
    await loginAs();
    const odd = {
      ...event(2, { paths: ['a', 'b'], note: 'x "y"' }),
      toolCallId: 'a,"b"\nc',
      actor: { userId: 'u', clientId: null },
    };
    const events = [event(1, { toolName: 't', path: 'a.ts', success: true, errorCode: null }), odd];
    fixture.routes[AUDIT] = () => [200, { events, nextCursor: null }];
    expect(await patchbay(['audit', '--csv'])).toBe(EXIT.ok);
    const ids = (seq: number): string =>
      `${seq},e${seq},2026-01-02T03:04:05.678Z,Tool.CreateFile.ResultReceived,u,,s1,c1,t1`;
    expect(fixture.out.text).toBe(
      [
        'seq,eventId,at,name,userId,clientId,sessionId,conversationId,turnId,toolCallId,callId,attempt,toolName,path,success,errorCode,fields',
        `${ids(1)},call,x,1,t,a.ts,true,,"{""toolName"":""t"",""path"":""a.ts"",""success"":true,""errorCode"":null}"`,
        `${ids(2)},"a,""b""\\x0ac",x,1,,a b,,,"{""paths"":[""a"",""b""],""note"":""x \\""y\\""""}"`,
        '',
      ].join('\r\n'),
    );
    fixture.routes[AUDIT] = () => [200, { events: [], nextCursor: null }];
    await patchbay(['audit', '--csv']);
    expect(fixture.out.text.split('\r\n')).toHaveLength(2);
  });

  it.each([
    [['--json', '--csv']],
    [['--last', '3', '--limit', '3']],
    [['--since', '7d', '--from', '2025-06-01']],
  ])('rejects the combination %j', async (flags) => {
    await loginAs();
    expect(await patchbay(['audit', ...flags])).toBe(EXIT.usage);
  });

  it('says that nothing matches', async () => {
    await loginAs();
    fixture.routes[AUDIT] = () => [200, { events: [], nextCursor: null }];
    await patchbay(['audit']);
    expect(fixture.out.text).toBe('No events.\n');
  });
});
