import { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import type { ResponseHandle } from '../../src/common/http/response-closed.js';
import { AnswersInFlight } from '../../src/limits/answers-in-flight.js';
import { OpenTurns } from '../../src/turns/engine/open-turns.js';
import { ask, asker, decided, deliveredAs, standing, write } from '../support/approval-fixture.js';
import { createdResult } from '../support/fake-client.js';
import { suiteFixture } from '../support/fixtures.js';
import { createCall } from '../support/relay-fixture.js';
import { readTrail } from '../support/invariants.js';
import { RelayFixture } from '../support/relay-fixture.js';

const CALL_BYTES = 2_000;
const TURN_BYTES = 5_000;
const ANSWER_BYTES = 250_000;

const readCall = (toolCallId: string, path: string) => ({ toolCallId, name: 'read', arguments: { path } });

describe('the budget of a turn', () => {
  const fixture = suiteFixture(() =>
    RelayFixture.start({
      ...{ maxResultBytes: CALL_BYTES, maxTurnResultBytes: TURN_BYTES },
      ...{
        maxOpenTurns: 20,
        maxUserOpenTurns: 3,
        maxOpenCalls: 1000,
        maxUserOpenCalls: 12,
        maxUserWaiting: 2,
        maxUserAnswerBytes: ANSWER_BYTES,
      },
    }),
  );
  beforeAll(async () => {
    const put = (path: string, bytes: number) =>
      fixture.user.post(`/workspaces/${fixture.workspaceId}/tools`, {
        tool: 'write',
        args: { path, content: { text: 'x'.repeat(bytes) } },
      });
    await put('/small', 1_500);
    await put('/large', 3_000);
  });

  it('limits the result of a call: a larger one fails with advice and leaves the other calls alone [TURN-12]', async () => {
    const { body } = await fixture.post([readCall('a', '/small'), readCall('b', '/large')], {
      waitMs: 20_000,
    });
    expect(body.result.toolResults).toMatchObject([
      { status: 'succeeded', error: null },
      {
        ...{ status: 'failed', result: null },
        error: { code: 'TOO_LARGE', message: expect.stringContaining('ask for less') as string },
      },
    ]);
    const direct = await fixture.user.post(`/workspaces/${fixture.workspaceId}/tools`, {
      ...{ tool: 'read', args: { path: '/large' } },
    });
    expect(direct).toMatchObject({ status: 413, body: { code: 'TOO_LARGE' } });
  });

  it('limits the results of a turn: a further one fails in the same way [TURN-12]', async () => {
    const calls = ['a', 'b', 'c', 'd', 'e'].map((id) => readCall(id, '/small'));
    const { body } = await fixture.post(calls, { waitMs: 20_000 });
    const codes = body.result.toolResults.map(({ error }) => error?.code ?? null);
    expect(codes).toEqual([null, null, null, 'TOO_LARGE', 'TOO_LARGE']);
    const again = await fixture.get(body.result.turnId);
    expect(again.body.result.toolResults).toEqual(body.result.toolResults);
  });

  it('counts the details of failed calls in the budget of results [TURN-12]', async () => {
    const wrong = Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`unknown${n}`, n]));
    const faulty = ['f', 'g'].map((id) => ({ ...createCall(id), arguments: wrong }));
    const calls = [...faulty, readCall('a', '/small'), readCall('b', '/small')];
    const { toolResults } = (await fixture.post(calls, { waitMs: 20_000 })).body.result;
    const sizes = toolResults.map(({ error, result }) => JSON.stringify(error?.details ?? result).length);
    expect(sizes[0]! + sizes[1]! + 2 * sizes[2]!).toBeGreaterThan(TURN_BYTES);
    expect(toolResults.map(({ status, error }) => [status, error?.code])).toEqual([
      ...[
        ['failed', 'INVALID_ARGUMENTS'],
        ['failed', 'INVALID_ARGUMENTS'],
      ],
      ...[
        ['succeeded', undefined],
        ['failed', 'TOO_LARGE'],
      ],
    ]);
  });

  it('ends the call of a client whose result is over the budget, with the reported outcome in the trail [TURN-12]', async () => {
    const client = await fixture.client();
    const { body } = await fixture.post([createCall('a')]);
    const call = await client.delivery();
    const message = 'm'.repeat(CALL_BYTES);
    expect(await client.report(call, { result: { ...createdResult(call), message } })).toMatchObject({
      ok: true,
    });
    const [ended] = (await fixture.get(body.result.turnId, 1_000)).body.result.toolResults;
    expect(ended).toMatchObject({ status: 'failed', result: null, error: { code: 'TOO_LARGE' } });
    const events = await readTrail(
      fixture.user,
      fixture.workspaceId,
      '&errorCode=TOO_LARGE&event=Tool.CreateFile.ResultReceived',
    );
    expect(events).toMatchObject([
      { fields: { success: false, reported: 'succeeded', path: expect.any(String) as string } },
    ]);
    client.close();
  });

  it('limits the edited arguments of its server calls: a larger edit decides nothing [TURN-12]', async () => {
    await ask(fixture, ['write']);
    const client = await asker(fixture);
    const { turnId } = (await fixture.post(['a', 'b', 'c'].map((id) => write(id, `/${id}`)))).body.result;
    await client.delivery(3);
    const edit = (id: string, bytes: number) => {
      const editedArguments = { path: `/${id}`, content: { text: 'x'.repeat(bytes) } };
      return client.report(deliveredAs(client, id), decided('edit', { editedArguments }));
    };
    expect(await edit('c', 3_000)).toEqual({ ok: true });
    const { callId } = deliveredAs(client, 'c');
    expect(JSON.stringify(fixture.server.app.get(OpenTurns).ofCall(callId))).not.toContain('xxx');
    expect(await edit('b', 2_000)).toMatchObject({
      ...{ ok: false, error: { code: 'TOO_LARGE', message: expect.stringContaining('deny it') as string } },
    });
    await client.report(deliveredAs(client, 'b'), decided('deny'));
    await client.report(deliveredAs(client, 'a'), decided('allow'));
    expect(await standing(fixture, turnId, 5_000)).toEqual(['a succeeded', 'b denied', 'c succeeded']);
    client.close();
    await ask(fixture, []);
  });

  it('rejects more open turns or calls of a user than allowed, also concurrent ones, and names the limit [TURN-10]', async () => {
    await fixture.newSession('away');
    const many = await Promise.all(Array.from({ length: 20 }, () => fixture.post([createCall('c')])));
    const refused = many.filter(({ status }) => status === 429);
    expect(refused.length).toBe(17);
    expect(refused[0]).toMatchObject({
      body: { code: 'RATE_LIMITED', error: expect.stringContaining('You have') as string },
    });
    expect(refused[0]!.headers.get('retry-after')).toBe('5');
    const taken = many.filter(({ status }) => status === 202).map(({ body }) => body.result.turnId);
    await fixture.cancel(taken[0]!);
    const large = Array.from({ length: 11 }, (_, n) => createCall(`c${n}`));
    expect(await fixture.post(large)).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    await fixture.cancel(taken[1]!);
    expect((await fixture.post(large)).status).toBe(202);
    await fixture.cancel(taken[2]!);
  });

  it('limits the waiting requests of a user [TURN-13]', async () => {
    await fixture.newSession('away');
    const { turnId } = (await fixture.post([createCall('c')])).body.result;
    // Those that only look may have come first.
    const wait = async (): ReturnType<typeof fixture.get> => {
      const answer = await fixture.get(turnId, 20_000);
      return answer.status === 429 ? wait() : answer;
    };
    const waiting = [wait(), wait()];
    let refused = await fixture.get(turnId, 1);
    while (refused.status !== 429) refused = await fixture.get(turnId, 1);
    expect(refused).toMatchObject({ body: { code: 'RATE_LIMITED' } });
    expect((await fixture.get(turnId)).status).toBe(202);
    await fixture.cancel(turnId);
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
    for (let times = 0; times < 3; times += 1) expect((await fixture.get('none', 1)).status).toBe(404);
  });

  it('counts a turn until it ends [TURN-10]', async () => {
    for (let times = 0; times < 4; times += 1) {
      const posted = await fixture.post([createCall('c')]);
      expect(posted.status).toBe(202);
      await fixture.cancel(posted.body.result.turnId);
    }
  });

  it('counts large arguments in the answer about an open turn until it is read or omits them [TURN-13]', async () => {
    await fixture.newSession('away');
    const call = { ...createCall('c'), arguments: { path: 'a.txt', content: 'x'.repeat(100_000) } };
    const { turnId } = (await fixture.post([call])).body.result;
    const answers = fixture.server.app.get(AnswersInFlight);
    const held = { userId: fixture.user.id, sessionId: 's', turnId: 't' };
    const sending = Object.assign(new EventEmitter(), { closed: false, req: { socket: new Socket() } });
    answers.reserve(held, ANSWER_BYTES - 50_000, sending as unknown as ResponseHandle);
    expect(await fixture.get(turnId)).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    sending.emit('close');
    expect((await fixture.get(turnId)).status).toBe(202);
    await fixture.cancel(turnId);
    answers.reserve(held, ANSWER_BYTES - 50_000, sending as unknown as ResponseHandle);
    expect((await fixture.get(turnId)).status).toBe(200);
    sending.emit('close');
  });

  it('counts the answer to a direct call of a client’s tool too, and names the limit [TURN-13]', async () => {
    await fixture.newSession('here');
    const client = await fixture.client({ clientId: 'here' });
    const answers = fixture.server.app.get(AnswersInFlight);
    const sending = Object.assign(new EventEmitter(), { closed: false, req: { socket: new Socket() } });
    const held = { userId: fixture.user.id, sessionId: 's', turnId: 't' };
    answers.reserve(held, ANSWER_BYTES - 10, sending as unknown as ResponseHandle);
    const { name: tool, arguments: args } = createCall('c');
    const { sessionId } = fixture.session;
    const answer = fixture.user.post<{ error: string }>(`/workspaces/${fixture.workspaceId}/tools`, {
      ...{ tool, args, sessionId },
    });
    const call = await client.delivery();
    await client.report(call, { result: createdResult(call) });
    expect(await answer).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    expect((await answer).body.error).toContain(`turn ${call.turnId} of session ${sessionId}`);
    sending.emit('close');
    expect((await fixture.get(call.turnId)).body.result.toolResults).toMatchObject([{ status: 'succeeded' }]);
    client.close();
  });
});
