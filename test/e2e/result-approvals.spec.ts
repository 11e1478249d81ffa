import { type ToolCallDelivery } from '@patchbay/protocol';
import { randomUUID } from 'node:crypto';
import { testFixture } from '../support/fixtures.js';
import { readTrail } from '../support/invariants.js';
import { APPROVAL, refused, result, ResultFixture } from '../support/result-fixture.js';
import { oneServer } from '../support/server.js';

const EDITED = { path: 'better.txt', content: 'secret content' };

describe('the result of a call', () => {
  const setup = new ResultFixture(oneServer());
  const { ended } = setup;
  const fixture = testFixture(() => setup.open());
  const client = testFixture(() => setup.client);
  let call: ToolCallDelivery;
  beforeEach(() => void ({ call } = setup));

  it('may be a denial with the note of the person [RELAY-10]', async () => {
    const approval = { ...APPROVAL, decision: 'deny', note: 'Not in this folder.' };
    expect(await client.report(call, { result, approval })).toMatchObject(refused('VALIDATION_ERROR'));
    expect(await client.report(call, { result: null, approval })).toEqual({ ok: true });
    expect(await ended()).toMatchObject({
      status: 'denied',
      result: null,
      error: { code: 'DENIED', message: 'Not in this folder.' },
    });
    const [denied] = await readTrail(setup.user, fixture.workspaceId, '&event=Tool.CreateFile.Denied');
    expect(denied!.fields).toMatchObject({
      success: false,
      errorCode: 'DENIED',
      approval: { by: 'ada', note: approval.note },
    });
  });

  it('may be a denial without a reason', async () => {
    await client.report(call, { result: null, approval: { ...APPROVAL, decision: 'deny', note: ' ' } });
    expect(await ended()).toMatchObject({
      status: 'denied',
      error: { message: 'The user denied this call.' },
    });
  });

  it('with edited arguments has these, and they must match the schema [RELAY-10]', async () => {
    const edit = { ...APPROVAL, decision: 'edit' };
    for (const approval of [
      edit,
      { ...edit, editedArguments: null },
      { ...edit, editedArguments: { path: 'x' } },
    ]) {
      expect(await client.report(call, { approval })).toMatchObject(refused('VALIDATION_ERROR'));
    }
    const about = { ...result, path: 'better.txt' };
    expect(
      await client.report(call, { result: about, approval: { ...edit, editedArguments: EDITED } }),
    ).toEqual({ ok: true });
    const [event] = await readTrail(setup.user, fixture.workspaceId, '&event=Tool.CreateFile.ResultReceived');
    expect(event!.fields).toMatchObject({
      path: 'better.txt',
      approval: {
        decision: 'edit',
        edited: {
          path: 'better.txt',
          overwrite: false,
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        },
      },
    });
    expect(JSON.stringify(event)).not.toContain('secret content');
  });

  it('has edited arguments only if they differ, at any depth [RELAY-10]', async () => {
    for (const decision of ['allow', 'deny']) {
      const deep = `${'['.repeat(240)}${']'.repeat(240)}`;
      for (const editedArguments of [EDITED, JSON.parse(deep) as unknown]) {
        const approval = { ...APPROVAL, decision, editedArguments };
        const claimed = { approval, ...(decision === 'deny' && { result: null }) };
        expect(await client.report(call, claimed)).toMatchObject(refused('VALIDATION_ERROR'));
      }
    }
    await client.report(call);
  });

  it('cannot reject changes of a call without changes, and has the time of the decision in one format', async () => {
    const approval = { ...APPROVAL, rejectedChangeIds: [randomUUID()] };
    for (const at of [
      '9999-12-31T23:59:59-23:59',
      '2025-06-01T12:00:60Z',
      '2025-W01',
      '2025-06-01',
      '2025-06-01T12:00:00',
      `2025-06-01T12:00:00.${'1'.repeat(1_000)}Z`,
    ]) {
      expect(await client.report(call, { approval: { ...APPROVAL, at } })).toMatchObject(
        refused('VALIDATION_ERROR'),
      );
    }
    expect(await client.report(call, { approval })).toMatchObject(refused('VALIDATION_ERROR'));
    await client.report(call, { approval: { ...APPROVAL, at: '2025-06-01T14:00:00.5+02:00' } });
    const [event] = await readTrail(setup.user, fixture.workspaceId, '&event=Tool.CreateFile.ResultReceived');
    expect(event!.fields.approval).toMatchObject({ at: '2025-06-01T12:00:00.500Z' });
  });
});
