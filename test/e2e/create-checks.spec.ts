import { sha256 } from '@patchbay/protocol/hash';
import { createdResult, type FakeClient } from '../support/fake-client.js';
import { testFixture } from '../support/fixtures.js';
import { readTrail } from '../support/invariants.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { oneServer } from '../support/server.js';

const APPROVAL = { by: 'ada', at: '2025-06-01T12:00:00Z' };
const CONTENT = '\ufeffa\r\nü\rc';
const WRITTEN = 'a\nü\nc';

describe('the report of a client about a created file [CREATE-30]', () => {
  const server = oneServer();
  const fixture = testFixture(async () => RelayFixture.on(server(), await server().register()));
  let client: FakeClient;
  beforeEach(async () => {
    client = await fixture.client();
  });

  /** Has the client report; gives the answer to the turn, and what the trail has of differences. */
  const report = async (change: object, more: object = {}) => {
    const posted = fixture.post([createCall('c', 'Proj/A.txt', CONTENT)], { waitMs: 20_000 });
    const call = await client.delivery();
    const result = { ...createdResult(call), ...change };
    expect(await client.report(call, { result, ...more })).toEqual({ ok: true });
    expect(await client.report(call, { result, ...more })).toEqual({ ok: true, duplicate: true });
    const { body } = await posted;
    const trail = await readTrail(fixture.user, fixture.workspaceId, '&event=Tool.CreateFile.Diverged');
    return { ...body, trail: trail.map(({ fields }) => fields) };
  };

  it('is accepted with other line endings and with or without a byte order mark', async () => {
    const { result, warnings, trail } = await report({});
    expect(result.toolResults).toMatchObject([{ result: { hash: sha256(WRITTEN), sizeBytes: 6 } }]);
    expect([warnings, trail]).toEqual([[], []]);
  });

  it.each([
    ['a hash of zeros', { hash: '0'.repeat(64) }],
    ['the hash of what was posted, not written', { hash: sha256(CONTENT) }],
    ['another size', { sizeBytes: 7 }],
  ])('is accepted with a warning, and recorded, where it has %s', async (_, change) => {
    const { result, warnings, trail } = await report(change);
    expect(result.toolResults).toMatchObject([{ status: 'succeeded', result: change }]);
    expect(warnings).toMatchObject([{ errorCode: 'DIVERGED', details: { toolCallId: 'c' } }]);
    expect(warnings[0]!.message).toContain(sha256(WRITTEN));
    const reported = { hash: sha256(WRITTEN), sizeBytes: 6, ...change };
    expect(trail).toEqual([
      expect.objectContaining({
        ...{ path: 'proj/a.txt', against: 'arguments', reportedSha256: reported.hash },
        ...{ otherSha256: sha256(WRITTEN), reportedSizeBytes: reported.sizeBytes, otherSizeBytes: 6 },
      }) as unknown,
    ]);
  });

  it('is checked against the content that a person has edited', async () => {
    const editedArguments = { path: 'Proj/A.txt', content: 'edited\n' };
    const edit = { ...APPROVAL, decision: 'edit', editedArguments };
    const edited = await report({ hash: sha256('edited\n'), sizeBytes: 7 }, { approval: edit });
    expect([edited.warnings, edited.trail]).toEqual([[], []]);
  });

  it('is checked against the bytes that the client has uploaded for the call', async () => {
    const posted = fixture.post([createCall('c', 'Proj/A.txt', CONTENT)], { waitMs: 20_000 });
    const call = await client.delivery();
    const uploaded = await client.send('files:put', {
      ...{
        docPath: 'proj/a.txt',
        path: '/Proj/A.txt',
        content: Buffer.from('other'),
        sha256: sha256('other'),
      },
      ...{ baseSha256: null, callId: call.callId },
    });
    expect(uploaded).toMatchObject({ ok: true });
    await client.report(call, { result: { ...createdResult(call), docPath: 'proj/a.txt' } });
    const { warnings } = (await posted).body;
    expect(warnings).toMatchObject([{ errorCode: 'DIVERGED' }]);
    expect(warnings[0]!.message).toContain(`what was uploaded has sha256 ${sha256('other')}`);
  });

  it('is checked over HTTP too, and a failure is not checked', async () => {
    client.close();
    await client.closed();
    const { turnId } = (await fixture.post([createCall('c'), createCall('d')])).body.result;
    const made = { ...createdResult({ arguments: { path: 'c.txt' } }), hash: '0'.repeat(64) };
    const failed = {
      ...{ ...made, success: false, hash: '', sizeBytes: 0, created: false, errorCode: 'FileExists' },
    };
    const { body } = await fixture.postResults(turnId, [
      { toolCallId: 'c', result: made },
      { toolCallId: 'd', result: failed },
    ]);
    expect(body.warnings).toMatchObject([{ errorCode: 'DIVERGED', details: { toolCallId: 'c' } }]);
  });
});
