import type { Approval, JsonObject, ToolCallDelivery } from '@patchbay/protocol';
import type { CallContext, RunTool } from '@patchbay/client/relay';
import { approveCloudChanges } from './approve-cloud-change.js';
import type { ApprovalRequest } from '../approval/approver.js';

const APPROVAL: Approval = { decision: 'allow', by: 'ada', at: '2025-06-01T12:00:00.000Z' };

/** Asks about a call; `text` is the content of each Cloud file, or returns it at each read. */
async function ask(
  name: string,
  args: JsonObject,
  text: string | null | (() => string) = null,
  more: object = {},
) {
  const requests: ApprovalRequest[] = [];
  const steps: string[] = [];
  const decide = async (request: ApprovalRequest) => {
    requests.push(request);
    steps.push('asked');
    return APPROVAL;
  };
  const context = {
    signal: new AbortController().signal,
    awaitApproval: () => Promise.resolve(void steps.push('reported')),
    start: () => Promise.reject(new Error('It must not be started here.')),
  } as unknown as CallContext;
  const call = { name, arguments: args, approvalOnly: true, ...more } as ToolCallDelivery;
  const handlers = approveCloudChanges({ decide }, async () => (typeof text === 'function' ? text() : text));
  const run: RunTool = handlers[name]!;
  const outcome = await run(call, context);
  return { outcome, steps, requests, files: requests[0]!.files, request: requests[0]! };
}

describe('the approval of a Cloud change', () => {
  it('reports the question first and returns only the decision', async () => {
    const { outcome, steps } = await ask('rm', { path: '/proj/a.txt' });
    expect(outcome).toEqual({ result: null, approval: APPROVAL });
    expect(steps).toEqual(['reported', 'asked']);
  });

  it('is requested again if the Cloud file has changed since it was shown', async () => {
    const texts = ['shown\n', 'by a person\n', 'by a person\n'];
    const args = { path: 'a', content: 'mine\n' };
    const { outcome, requests } = await ask('write', args, () => texts.shift()!);
    expect(outcome).toEqual({ result: null, approval: APPROVAL });
    expect(requests.map(({ files, note }) => [files[0]!.before, note])).toEqual([
      ['shown\n', undefined],
      ['by a person\n', expect.stringContaining('has changed since')],
    ]);
  });

  it('is denied if the file changes after each decision', async () => {
    let reads = 0;
    const { outcome } = await ask('rm', { path: 'a' }, () => String((reads += 1)));
    expect(outcome).toMatchObject({ approval: { decision: 'deny', note: expect.any(String) as string } });
  });

  it('of a write shows the old and new text, which can be edited', async () => {
    const args = { path: '/proj/a.txt', content: { text: 'new\n' } };
    const { files, request } = await ask('write', args, 'old\n');
    const [shown] = files;
    expect(shown).toMatchObject({ path: 'proj/a.txt', before: 'old\n', after: 'new\n' });
    expect(request.edit!(['mine'])).toMatchObject({
      files: [{ before: 'old\n', after: 'mine' }],
      editedArguments: { path: '/proj/a.txt', content: { text: 'mine' } },
    });
    expect((await ask('write', { path: 'a', content: 'text' })).files).toMatchObject([
      { before: null, after: 'text' },
    ]);
  });

  it('of a write of a JSON value shows it without an edit', async () => {
    const { files, request } = await ask('write', { path: 'a', content: { text: 'x', more: 1 } });
    expect(JSON.parse(files[0]!.after)).toEqual({ text: 'x', more: 1 });
    expect(request.edit).toBeUndefined();
  });

  it('of an edit shows the whole file, or the strings if it is not available', async () => {
    const args = { path: 'a', oldString: 'b', newString: '$&' };
    const [inFile] = (await ask('edit', args, 'abcb')).files;
    expect(inFile).toMatchObject({ before: 'abcb', after: 'a$&cb' });
    const [all] = (await ask('edit', { ...args, replaceAll: true }, 'abcb')).files;
    expect([all!.after, all!.does]).toEqual(['a$&c$&', expect.stringContaining('all such places')]);
    for (const text of [null, 'nothing of it']) {
      expect((await ask('edit', args, text)).files).toMatchObject([{ before: 'b', after: '$&' }]);
    }
  });

  it('says what happens to each path, at both ends of a move', async () => {
    const shown = async (name: string, args: JsonObject) =>
      (await ask(name, args)).files.map(({ does, path }) => `${does} ${path}`);
    expect(await shown('rm', { path: '/a' })).toEqual(['delete from the Cloud a']);
    expect(await shown('mkdir', { path: '/a/b' })).toEqual(['make the Cloud folder a/b']);
    expect(await shown('mv', { from: '/a', to: '/b' })).toEqual([
      'move in the Cloud, from a',
      'move in the Cloud, to b',
    ]);
  });

  it('is rejected for a call that was not sent for approval', async () => {
    await expect(ask('rm', { path: '/a' }, null, { approvalOnly: undefined })).rejects.toThrow(
      'runs on the server',
    );
  });
});
