import { jest } from '@jest/globals';
import { ToolRunner } from '../../src/tools/tool-runner.js';
import {
  ask,
  asker,
  call,
  decided,
  deliveredAs,
  read,
  standing,
  write,
} from '../support/approval-fixture.js';
import { journalEntry } from '../support/fake-client.js';
import type { RelayFixture } from '../support/relay-fixture.js';
import type { TestServer } from '../support/server.js';
import { onTwoNodes, type TwoNodes } from '../support/two-nodes.js';
import { waitFor } from '../support/wait-for.js';

/** Makes the server's tools wait until the returned function is called; `ran` has the names of those that began. */
function hold(server: TestServer): { letGo: () => void; ran: string[] } {
  const runner = server.app.get(ToolRunner, { strict: false });
  const run = runner.run.bind(runner);
  const ran: string[] = [];
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  jest.spyOn(runner, 'run').mockImplementation(async (...args) => {
    ran.push(args[0]);
    await held;
    return run(...args);
  });
  return { letGo, ran };
}

const everything = ['write', 'edit', 'rm', 'mv', 'mkdir'];

describe.each(['sound', 'faulty', 'cut'] as const)('two nodes with a %s bus', (line) => {
  const nodes = onTwoNodes(line);
  let two: TwoNodes;
  let [a, b]: RelayFixture[] = [];
  beforeEach(async () => {
    two = nodes();
    ({ a, b } = two);
    await ask(a, everything);
  });

  it('run an allowed call on the node of its approval, and then the calls that waited for it [APPROVAL-3]', async () => {
    const client = await asker(a!);
    await b!.post([write('w', '/a', 'x'), read('r', '/a')], { turnId: 't' });
    await waitFor(() => client.calls.length === 1, 'the delivery');
    await client.report(client.calls[0]!, decided('allow'));
    expect(await standing(b!, 't', 20_000)).toEqual(['r succeeded', 'w succeeded']);
    expect((await a!.steps('w')).filter((step) => step === 'Executing')).toHaveLength(1);
  });

  it('start an allowed call only after the other node has finished the call before it [APPROVAL-3]', async () => {
    const client = await asker(a!);
    const atB = hold(two.servers.b);
    const atA = hold(two.servers.a);
    await b!.post([call('l', 'ls', {}), write('w', '/a', 'x'), read('r', '/a')], { turnId: 't' });
    await waitFor(() => client.calls.length === 1, 'the delivery');
    const editedArguments = { path: '/a', content: { text: 'as it was edited' } };
    await client.report(client.calls[0]!, decided('edit', { editedArguments }));
    await waitFor(() => atB.ran.length === 1, 'the first call');
    atB.letGo();
    expect(await standing(a!, 't', 20_000)).toEqual(['l succeeded', 'r succeeded', 'w succeeded']);
    expect((await a!.get('t')).body.result.toolResults.at(-1)).toMatchObject({
      ...{ toolCallId: 'r', result: { content: { text: 'as it was edited' } } },
    });
    expect([atB.ran, atA.ran]).toEqual([['ls', 'write', 'read'], []]);
  });

  it('release the waiting calls when a decision does not come in time [APPROVAL-4]', async () => {
    const client = await asker(a!);
    await b!.post([write('w', '/a'), call('l', 'ls', {})], { turnId: 't', timeouts: { approvalMs: 2_000 } });
    await waitFor(() => client.calls.length === 1, 'the delivery');
    expect(await standing(a!, 't', 20_000)).toEqual(['l succeeded', 'w timed_out']);
    expect((await a!.steps('l')).filter((step) => step === 'Executing')).toHaveLength(1);
  });
});

describe('a call that waits for approval', () => {
  const nodes = onTwoNodes();
  let two: TwoNodes;
  let a: RelayFixture;
  beforeEach(async () => {
    two = nodes();
    ({ a } = two);
    await ask(a, everything);
    // One node is enough here; the other would take part.
    await two.nodes.stop(two.servers.b);
  });

  /** The node ends, and another process of it starts. */
  const restart = async (): Promise<RelayFixture> => {
    await two.nodes.stop(two.servers.a);
    return a.movedTo(await two.nodes.start('a'));
  };

  it('survives a restart with the calls that wait for it, and is decided by the client that returns [APPROVAL-4]', async () => {
    const client = await asker(a);
    await a.post([write('w', '/a', 'x'), read('r', '/a')], { turnId: 't' });
    const delivered = await client.delivery();
    await client.status(delivered, 'awaiting_approval');
    await a.untilCall('t', 'w', 'awaiting_approval');
    const again = await restart();
    expect(await standing(again, 't')).toEqual(['r accepted', 'w awaiting_approval']);
    const back = await asker(again, {}, [journalEntry(delivered, 'awaiting_approval')]);
    expect(back.calls).toEqual([]);
    await back.report(delivered, decided('allow'));
    expect(await standing(again, 't', 20_000)).toEqual(['r succeeded', 'w succeeded']);
  });

  it('runs with its edited arguments after a restart, once the calls before it are decided [APPROVAL-2]', async () => {
    const client = await asker(a);
    await a.post([write('1', '/a', 'x'), write('2', '/b', 'y'), read('r', '/b')], { turnId: 't' });
    await client.delivery(2);
    const editedArguments = { path: '/b', content: { text: 'as it was edited' } };
    await client.report(deliveredAs(client, '2'), decided('edit', { editedArguments }));
    const first = deliveredAs(client, '1');
    const again = await restart();
    const back = await asker(again, {}, [journalEntry(first, 'awaiting_approval')]);
    await back.report(first, decided('deny'));
    expect(await standing(again, 't', 20_000)).toEqual(['1 denied', '2 succeeded', 'r succeeded']);
    expect((await again.calls('t')).r).toMatchObject({ result: { content: { text: 'as it was edited' } } });
  });

  it('is decided once by the journal of a client whose report was lost [APPROVAL-4]', async () => {
    const client = await asker(a);
    await a.post([write('1', '/a', 'x'), write('2', '/a', 'y')], { turnId: 't' });
    await client.delivery(2);
    await a.untilCall('t', '2', 'acknowledged');
    const [first, second] = ['1', '2'].map((id) => deliveredAs(client, id));
    client.close();
    const again = await restart();
    const journal = [first!, second!].map((held, at) =>
      journalEntry(held, at === 0 ? 'succeeded' : 'denied', decided(at === 0 ? 'allow' : 'deny')),
    );
    const back = await asker(again, {}, journal);
    expect(await standing(again, 't', 20_000)).toEqual(['1 succeeded', '2 denied']);
    const forget = journal.map(({ callId }) => callId);
    expect(await back.resume(journal)).toEqual({ ok: true, forget, resume: [] });
    expect(back.calls).toEqual([]);
    expect((await again.steps('1')).filter((step) => step === 'Executing')).toHaveLength(1);
  });

  it('goes to another client when its own client has lost it [RELAY-4]', async () => {
    const client = await asker(a);
    await a.post([write('w', '/a', 'x')], { turnId: 't' });
    await client.delivery();
    await a.untilCall('t', 'w', 'acknowledged');
    client.close();
    const emptied = await asker(a);
    const anew = await emptied.delivery();
    expect(anew).toMatchObject({ attempt: 2, approvalOnly: true });
    await emptied.report(anew, decided('allow'));
    expect(await standing(a, 't', 20_000)).toEqual(['w succeeded']);
  });

  it('does not run again when the server died after it was allowed and had begun [FILE-6]', async () => {
    const client = await asker(a);
    const first = hold(two.servers.a);
    await a.post([write('w', '/a', 'x'), write('v', '/b', 'y'), call('l', 'ls', {})], { turnId: 't' });
    await client.delivery(2);
    for (const id of ['v', 'w']) await client.report(deliveredAs(client, id), decided('allow'));
    await waitFor(() => first.ran.length === 1, 'the first call');
    expect(await standing(a, 't')).toEqual(['l executing', 'v executing', 'w executing']);
    const again = a.movedTo(await two.nodes.start('a'));
    expect(await standing(again, 't', 20_000)).toEqual(['l failed', 'v failed', 'w failed']);
    expect((await again.calls('t')).w).toMatchObject({ error: { code: 'INTERNAL_ERROR' } });
    expect(first.ran).toEqual(['write']);
  });

  it('holds up the next calls after a restart until it is decided [APPROVAL-3]', async () => {
    const client = await asker(a);
    hold(two.servers.a);
    await a.post([call('l', 'ls', {}), write('w', '/a', 'x'), read('r', '/a')], { turnId: 't' });
    const delivered = await client.delivery();
    await a.untilCall('t', 'w', 'acknowledged');
    client.close();
    const again = a.movedTo(await two.nodes.start('a'));
    await again.untilCall('t', 'l', 'failed');
    const back = await asker(again, {}, [journalEntry(delivered, 'awaiting_approval')]);
    expect(await standing(again, 't')).toEqual(['l failed', 'r accepted', 'w awaiting_approval']);
    await back.report(delivered, decided('allow'));
    expect(await standing(again, 't', 20_000)).toEqual(['l failed', 'r succeeded', 'w succeeded']);
  });
});
