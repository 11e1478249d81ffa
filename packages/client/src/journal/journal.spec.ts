import * as disk from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Approval, ToolCallDelivery } from '@patchbay/protocol';

import { openDiskJournal } from '../home/disk-journals.js';
import type { Journal, JournalOptions } from './journal.js';

const allow: Approval = { decision: 'allow', by: 'ada', at: '2026-01-01T00:00:00.000Z' };
const success = { result: { success: true }, approval: allow, executionMs: 5 };

function call(callId: string, content = 'x'): ToolCallDelivery {
  return {
    callId,
    attempt: 1,
    toolCallId: 't',
    sessionId: 's',
    conversationId: 'v',
    turnId: 'u',
    name: 'workspace_create_file',
    arguments: { path: 'a', content },
    deadlines: { deliveryAt: null, approvalAt: null, executionAt: null },
  };
}

describe('the journal', () => {
  let directory: string;
  let file: string;
  let journal: Journal;
  const open: Journal[] = [];
  const reopen = async (options?: JournalOptions) => {
    journal = await openDiskJournal(directory, options);
    open.push(journal);
    return journal;
  };
  const states = () => journal.all().map(({ callId, state }) => [callId, state]);
  beforeEach(async () => {
    directory = join(await disk.mkdtemp(join(tmpdir(), 'patchbay-journal-')), 'home', 'client');
    file = join(directory, 'journal.jsonl');
    await reopen();
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((each) => each.close()));
    await disk.rm(join(directory, '..', '..'), { recursive: true });
  });

  it('accepts a call once, and recognises it when it is delivered again', async () => {
    expect(await journal.receive(call('c1'))).toMatchObject({
      known: false,
      entry: { state: 'acknowledged', attempt: 1 },
    });
    expect(await journal.receive({ ...call('c1'), attempt: 3 })).toMatchObject({
      known: true,
      entry: { attempt: 3 },
    });
    await journal.finish('c1', success);
    await reopen();
    const again = await journal.receive({ ...call('c1'), attempt: 4 });
    expect(again).toMatchObject({
      known: true,
      entry: { state: 'finished', attempt: 4, result: { success: true } },
    });
  });

  it('accepts a call once when it is delivered twice at the same moment', async () => {
    const second = { ...call('c1'), attempt: 2 };
    const answers = await Promise.all([journal.receive(second), journal.receive(call('c1'))]);
    expect(answers.map(({ known }) => known)).toEqual([false, true]);
    expect(journal.all()).toMatchObject([{ callId: 'c1', state: 'acknowledged', attempt: 2 }]);
    // A delayed older delivery does not reset it either.
    await journal.receive(call('c1'));
    expect(journal.get('c1')).toMatchObject({ attempt: 2 });
  });

  it('has every step after a kill, without having been closed', async () => {
    for (const callId of ['c1', 'c2', 'c3', 'c4']) await journal.receive(call(callId));
    await journal.awaitApproval('c2');
    await journal.start('c3', allow);
    await journal.start('c4', allow);
    await journal.finish('c4', success);
    await reopen();
    expect(states()).toEqual([
      ['c1', 'acknowledged'],
      ['c2', 'awaiting_approval'],
      ['c3', 'running'],
      ['c4', 'finished'],
    ]);
    expect(journal.get('c1')!.call).toEqual(call('c1'));
    expect(journal.get('c3')!.approval).toEqual(allow);
  });

  it('keeps the intents of a write, and how far it got', async () => {
    const intent = {
      root: '/r',
      path: 'a',
      docPath: 'a',
      segments: ['a'],
      tempName: '.t',
      sha256: 'ab',
      sizeBytes: 1,
      previousSha256: null,
    };
    await journal.receive(call('c1'));
    await journal.start('c1', allow);
    await journal.writeLog('c1').intend([intent]);
    await journal.writeLog('c1').committing();
    await reopen();
    expect(journal.get('c1')).toMatchObject({ intents: [intent], committing: true });
    await journal.rollBack('c1');
    expect(journal.get('c1')).toMatchObject({ intents: [intent], committing: false });
    await journal.writeLog('c1').committing();
    await journal.writeLog('c1').intend([{ ...intent, tempName: '.u' }]);
    expect(journal.get('c1')).toMatchObject({ intents: [{ tempName: '.u' }], committing: false });
  });

  it('lists its calls for client:resume, those with an effect first', async () => {
    for (const callId of ['c1', 'c2', 'c3', 'c4']) await journal.receive(call(callId));
    await journal.finish('c2', success);
    await journal.finish('c3', { result: null, approval: { ...allow, decision: 'deny' }, executionMs: null });
    await journal.finish('c4', { result: { success: false }, approval: allow, executionMs: 1 });
    const [denied, failed] = [
      { callId: 'c3', state: 'denied', result: null },
      { callId: 'c4', state: 'failed' },
    ];
    const entries = journal.entries();
    expect(entries).toMatchObject([
      { callId: 'c2', state: 'succeeded', ...success },
      denied,
      failed,
      { callId: 'c1' },
    ]);
    expect(entries[3]).toEqual({ turnId: 'u', callId: 'c1', attempt: 1, state: 'acknowledged' });
  });

  it('omits results that would make the list too large for one message', async () => {
    const large = { result: 'x'.repeat(5 * 1024 * 1024), approval: allow, executionMs: 1 };
    for (const callId of ['c1', 'c2', 'c3', 'c4']) await journal.receive(call(callId));
    await journal.finish('c1', large);
    await journal.finish('c2', large);
    await journal.finish('c3', success);
    await journal.finish('c4', { ...large, approval: { ...allow, decision: 'deny' } });
    expect(journal.entries()).toMatchObject([
      { callId: 'c1', result: large.result },
      { callId: 'c2', state: 'running' },
      { callId: 'c3', ...success },
      { callId: 'c4', state: 'awaiting_approval' },
    ]);
    expect(journal.entries()[1]).not.toHaveProperty('result');
    expect(JSON.stringify(journal.entries(0)).length).toBeLessThan(1000);
  });

  it('lists at most 1,000 calls', async () => {
    await Promise.all(Array.from({ length: 1001 }, (_, n) => journal.receive(call(`c${n}`))));
    await journal.finish('c1000', success);
    expect(journal.entries()).toHaveLength(1000);
    expect(journal.entries()[0]!.callId).toBe('c1000');
  });

  it('keeps the first outcome of a call', async () => {
    await journal.receive(call('c1'));
    await journal.finish('c1', success);
    expect(await journal.finish('c1', { ...success, result: { success: false } })).toMatchObject(success);
    await journal.start('c1', null);
    expect(journal.get('c1')).toMatchObject({ state: 'finished', approval: allow });
  });

  it('keeps a running call as running when a person is asked late', async () => {
    await journal.receive(call('c1'));
    await journal.start('c1', null);
    await journal.awaitApproval('c1');
    expect(journal.get('c1')).toMatchObject({ state: 'running' });
    await reopen();
    expect(journal.get('c1')).toMatchObject({ state: 'running' });
  });

  it('forgets for good, and starts no forgotten call', async () => {
    await journal.receive(call('c1'));
    await journal.forget(['c1', 'unknown']);
    await expect(journal.start('c1', allow)).rejects.toThrow('does not hold call c1');
    await expect(journal.finish('c1', success)).rejects.toThrow('does not hold');
    await reopen();
    expect(journal.all()).toEqual([]);
  });

  it('drops a line torn by a crash and continues after it', async () => {
    await journal.receive(call('c1'));
    await journal.receive(call('c2'));
    const whole = await disk.readFile(file);
    const lastLine = whole.lastIndexOf('\n', whole.length - 2) + 1;
    for (let length = lastLine; length < whole.length - 1; length += 31) {
      await disk.writeFile(file, whole.subarray(0, length));
      await reopen();
      expect([length, states()]).toEqual([length, [['c1', 'acknowledged']]]);
      await journal.receive(call('c3'));
      await reopen();
      expect(states()).toEqual([
        ['c1', 'acknowledged'],
        ['c3', 'acknowledged'],
      ]);
    }
  });

  it('keeps a last line that lacks only its newline, and starts the next on a new line', async () => {
    await journal.receive(call('c1'));
    await disk.truncate(file, (await disk.stat(file)).size - 1);
    await reopen();
    await journal.receive(call('c2'));
    await reopen();
    expect(states()).toHaveLength(2);
  });

  it('ignores a damaged line between good ones', async () => {
    await journal.receive(call('c1'));
    await journal.receive(call('c2', 'flip me'));
    await journal.receive(call('c3'));
    await disk.writeFile(file, (await disk.readFile(file, 'utf8')).replace('flip me', 'flip mE'));
    await reopen();
    expect(states().map(([callId]) => callId)).toEqual(['c1', 'c3']);
  });

  it('stays small: compaction drops ended calls and keeps open ones', async () => {
    await journal.receive(call('open', 'y'.repeat(1000)));
    for (let n = 0; n < 30; n++) {
      await journal.receive(call(`c${n}`, 'x'.repeat(200_000)));
      await journal.finish(`c${n}`, success);
      await journal.forget([`c${n}`]);
    }
    expect((await disk.stat(file)).size).toBeLessThan(1_500_000);
    await reopen();
    expect(journal.get('open')!.call!.arguments.content).toHaveLength(1000);
    expect(journal.all()).toHaveLength(1);
    expect((await disk.stat(file)).size).toBeLessThan(3000);
  });

  it('loses nothing when it compacts during many calls', async () => {
    await Promise.all(
      Array.from({ length: 60 }, async (_, n) => {
        await journal.receive(call(`c${n}`, 'x'.repeat(100_000)));
        await journal.start(`c${n}`, allow);
        if (n % 2) await journal.finish(`c${n}`, success);
      }),
    );
    await reopen();
    expect(states()).toHaveLength(60);
    expect(journal.all().filter(({ state }) => state === 'running')).toHaveLength(30);
  });

  it('can be read only by its user', async () => {
    await journal.receive(call('c1'));
    expect((await disk.stat(directory)).mode & 0o777).toBe(0o700);
    expect((await disk.stat(file)).mode & 0o777).toBe(0o600);
  });

  it('keeps text exactly, also non-ASCII and invalid Unicode', async () => {
    const content = 'ä\u2028\n\r\0📁 \ud800';
    await journal.receive(call('c1', content));
    await reopen();
    expect(journal.get('c1')!.call!.arguments.content).toBe(content);
  });

  it('is full at the limit of calls or bytes, until calls have ended', async () => {
    await journal.close();
    await reopen({ maxBytes: 3_000 });
    await journal.receive(call('c1', 'x'.repeat(2_000)));
    expect(journal.isFull).toBe(false);
    await journal.receive(call('c2', 'x'.repeat(2_000)));
    expect(journal.isFull).toBe(true);
    await journal.finish('c2', { result: {}, approval: null, executionMs: 1 });
    expect(journal.isFull).toBe(false);
    await Promise.all(Array.from({ length: 998 }, (_, n) => journal.receive(call(`n${n}`))));
    await journal.close();
    await reopen();
    expect([journal.all().length, journal.isFull]).toEqual([1_000, true]);
    expect(journal.entries()).toHaveLength(1_000);
    await journal.forget(['c1']);
    expect(journal.isFull).toBe(false);
  });

  it('counts the same calls and bytes when it is reopened, less what was forgotten', async () => {
    await journal.receive(call('c1', 'x'.repeat(4_000)));
    await journal.close();
    await reopen({ maxBytes: 3_000 });
    expect(journal.isFull).toBe(true);
    await journal.forget(['c1']);
    expect(journal.isFull).toBe(false);
  });

  it('has pending lines after it was closed', async () => {
    const receiving = [journal.receive(call('c1')), journal.receive(call('c2'))];
    await journal.close();
    expect((await disk.readFile(file, 'utf8')).split('\n')).toHaveLength(3);
    await Promise.all(receiving);
  });

  it('refuses to write after it was closed', async () => {
    await journal.close();
    await expect(journal.receive(call('c1'))).rejects.toThrow('closed');
  });
});
