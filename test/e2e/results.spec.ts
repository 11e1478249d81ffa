import { type ToolCallDelivery } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { randomUUID } from 'node:crypto';
import { createdResult, failedResult } from '../support/fake-client.js';
import { testFixture } from '../support/fixtures.js';
import { readTrail } from '../support/invariants.js';
import { RelayFixture } from '../support/relay-fixture.js';
import { APPROVAL, refused, result, ResultFixture } from '../support/result-fixture.js';
import { oneServer } from '../support/server.js';

describe('the result of a call', () => {
  const setup = new ResultFixture(oneServer());
  const { ended } = setup;
  const fixture = testFixture(() => setup.open());
  const client = testFixture(() => setup.client);
  let call: ToolCallDelivery;
  beforeEach(() => void ({ call } = setup));

  const failed = failedResult({ arguments: { path: 'c.txt' } }, 'WriteFailed');

  it('is stored unchanged', async () => {
    await client.report(call, { executionMs: 12, approval: APPROVAL });
    expect(await ended()).toEqual({
      toolCallId: 'c',
      callId: call.callId,
      name: 'workspace_create_file',
      status: 'succeeded',
      result: createdResult(call),
      error: null,
      executionMs: 12,
      endedAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    });
  });

  it.each([
    ['FileExists', 'There is such a file already.'],
    ['DIRTY_BUFFER', 'It is open, and not saved.'],
  ])(
    'that reports failure fails the call with its code and keeps the payload: %s [TURN-6]',
    async (errorCode, message) => {
      const failure = {
        success: false,
        message,
        path: 'c.txt',
        sizeBytes: 0,
        hash: '',
        created: false,
        overwritten: false,
        errorCode,
      };
      expect(await client.report(call, { result: failure })).toEqual({ ok: true });
      expect(await ended()).toMatchObject({
        status: 'failed',
        result: failure,
        error: { code: errorCode, message },
      });
    },
  );

  it.each([
    ['nothing', null],
    ['no result at all', undefined],
    ['a string', 'done'],
    ['a missing property', { ...result, hash: undefined }],
    ['a property more', { ...result, extra: 1 }],
    ['a wrong type', { ...result, sizeBytes: '3' }],
    ['success with a code', { ...result, errorCode: 'FileExists' }],
    ['failure without a code', { ...result, success: false }],
    ['failure with a code of its own', { ...failed, errorCode: 'Oops' }],
    ['failure that made a file', { ...failed, created: true }],
    ['failure with bytes', { ...failed, sizeBytes: 3 }],
    ['failure with a hash', { ...failed, hash: 'a' }],
    ['success of no kind', { ...result, created: false }],
    ['success of both kinds', { ...result, overwritten: true }],
    ['success nowhere', { ...result, path: '' }],
    ['success at a path with a backslash', { ...result, path: 'a\\b' }],
    ['a size that is no number of bytes', { ...result, sizeBytes: 1e300 }],
  ])('that is %s is rejected and the call stays open [RELAY-9]', async (_, broken) => {
    expect(await client.report(call, { result: broken })).toMatchObject(
      refused('VALIDATION_ERROR', expect.stringContaining('workspace_create_file') as string),
    );
    expect(await ended()).toMatchObject({ status: 'acknowledged' });
    expect(await client.report(call)).toEqual({ ok: true });
    expect(await fixture.steps('c')).toEqual(['Accepted', 'Forwarded', 'Acknowledged', 'ResultReceived']);
  });

  it('is a duplicate when repeated, whatever its attempt, time and executionMs [RELAY-8]', async () => {
    await client.report(call, { approval: APPROVAL });
    const approval = { ...APPROVAL, at: '2030-01-01T00:00:00.000Z' };
    expect(await client.report(call, { approval, attempt: 7, executionMs: 99 })).toEqual({
      ok: true,
      duplicate: true,
    });
    expect(await ended()).toMatchObject({ executionMs: 3 });
    expect((await fixture.steps('c')).slice(-2)).toEqual(['ResultReceived', 'DuplicateResult']);
  });

  it('is accepted once when sent several times concurrently', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => client.report(call)));
    expect(answers.filter((answer) => answer.ok && answer.duplicate)).toHaveLength(4);
    expect(answers.every(({ ok }) => ok)).toBe(true);
  });

  it.each([
    ['another result', { result: { ...result, path: 'd.txt' } }],
    ['another decision', { approval: { ...APPROVAL, decision: 'allow_always' } }],
  ])('with %s after the end is a conflict [RELAY-8]', async (_, change) => {
    await client.report(call, { approval: APPROVAL });
    expect(await client.report(call, { approval: APPROVAL, ...change })).toMatchObject(refused('CONFLICT'));
    expect((await fixture.steps('c')).slice(-2)).toEqual(['ResultReceived', 'LateResult']);
  });

  it('is accepted with any attempt number', async () => {
    expect(await client.report(call, { attempt: 42 })).toEqual({ ok: true });
  });

  it('that reports failure names the path as given', async () => {
    const failure = { ...failedResult({ arguments: { path: 'a\\b' } }, 'InvalidPath') };
    expect(await client.report(call, { result: failure })).toEqual({ ok: true });
  });

  it('of an unknown call or of another user’s call is a 404 [RELAY-8]', async () => {
    const other = await fixture.server.register();
    await setup.user.addMember(fixture.workspaceId, other);
    const foreign = await fixture.client({ token: other.token, clientId: 'editor-1' });
    const foreignPlace = await RelayFixture.on(fixture.server, setup.user);
    const elsewhere = await foreignPlace.client();
    for (const answer of [
      await foreign.report(call),
      await foreign.status(call, 'running'),
      await elsewhere.report(call),
      await client.report({ ...call, callId: randomUUID() }),
      await client.report({ ...call, turnId: 'another' }),
    ]) {
      expect(answer).toMatchObject(refused('NOT_FOUND'));
    }
    await client.report(call);
    expect(await foreign.report(call)).toMatchObject(refused('NOT_FOUND'));
    expect(await client.report({ ...call, turnId: 'another' })).toMatchObject(refused('NOT_FOUND'));
    expect(await fixture.steps('c')).not.toContain('LateResult');
    await foreignPlace.close();
  });

  it('from a client of the same user that does not hold the call is a conflict, and recorded', async () => {
    const second = await fixture.client({ clientId: 'editor-2' });
    expect(await second.report(call)).toMatchObject(refused('CONFLICT'));
    expect(await second.status(call, 'running')).toMatchObject(refused('CONFLICT'));
    const [late] = await readTrail(setup.user, fixture.workspaceId, '&event=Tool.CreateFile.LateResult');
    expect(late).toMatchObject({
      actor: { userId: setup.user.id, clientId: 'editor-2' },
      fields: { success: true, path: 'c.txt' },
    });
    await client.report(call);
  });

  it('of a call that failed validation is rejected', async () => {
    const { body } = await fixture.post([{ toolCallId: 'bad', name: 'nothing', arguments: {} }]);
    const { callId, turnId: rejected } = { ...body.result.toolResults[0]!, turnId: body.result.turnId };
    expect(await client.report({ ...call, callId, turnId: rejected })).toMatchObject(refused('CONFLICT'));
    await client.report(call);
  });

  it('may come after its steps, which are recorded in order', async () => {
    await client.status(call, 'awaiting_approval', 'asking Ada');
    await client.status(call, 'running');
    expect(await client.status(call, 'awaiting_approval')).toEqual({ ok: true });
    expect(await ended()).toMatchObject({ status: 'running', clientId: 'editor-1', attempt: 1 });
    await client.report(call);
    expect(await fixture.steps('c')).toEqual([
      'Accepted',
      'Forwarded',
      'Acknowledged',
      'AwaitingApproval',
      'Running',
      'ResultReceived',
    ]);
    const [asked] = await readTrail(
      setup.user,
      fixture.workspaceId,
      '&event=Tool.CreateFile.AwaitingApproval',
    );
    expect(asked!.fields).toMatchObject({ note: 'asking Ada' });
  });

  it('is recorded after its steps and its changes of the Cloud in the order in which they came [AUDIT-1]', async () => {
    const text = 'x\n';
    const file = { docPath: 'p/c.txt', path: '/p/c.txt', content: Buffer.from(text), sha256: sha256(text) };
    // It waits a moment for company; the file must not overtake it.
    const asking = client.status(call, 'awaiting_approval');
    const put = { ...file, baseSha256: null, callId: call.callId };
    const stored: unknown = await client.socket.timeout(5_000).emitWithAck('files:put', put);
    expect([await asking, stored]).toMatchObject([{ ok: true }, { ok: true }]);
    await client.report(call);
    const trail = await readTrail(setup.user, fixture.workspaceId, '');
    const names = trail.map(({ name }) => name.split('.').slice(-2).join('.'));
    expect(names).toEqual([
      ...[
        'Turn.Accepted',
        'CreateFile.Accepted',
        'CreateFile.Forwarded',
        'CreateFile.Acknowledged',
        'CreateFile.AwaitingApproval',
      ],
      ...['Folder.Created', 'File.Created', 'CreateFile.ResultReceived', 'Turn.Completed'],
    ]);
    const times = trail.map(({ at }) => at);
    expect(times).toEqual([...times].sort());
  });

  it('that exceeds its limits is rejected with every fault', async () => {
    const answer = await client.report(call, {
      executionMs: -1,
      approval: { decision: 'maybe', by: '', at: 'noon', why: 1 },
      outcome: 'good',
    });
    expect(answer).toMatchObject(refused('VALIDATION_ERROR'));
    await client.report(call);
  });
});
