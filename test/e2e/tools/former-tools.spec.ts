import { jest } from '@jest/globals';
import type { ToolContract } from '@patchbay/protocol';
import type { FakeClient } from '../../support/fake-client.js';
import type { RelayFixture } from '../../support/relay-fixture.js';
import type { TestServer } from '../../support/server.js';

/** The one tool of the server that starts next. */
let offered: ToolContract;
class NoteTool {
  readonly contract = offered;
}
jest.unstable_mockModule('../../../src/tools/tool-classes.js', () => ({
  findToolClasses: () => Promise.resolve([NoteTool]),
}));
const { RelayFixture: Fixture } = await import('../../support/relay-fixture.js');
const { startTestServer } = await import('../../support/server.js');

/** A client's tool that takes and gives one thing. */
function note(argument: string, result: string): ToolContract {
  const only = (property: string) => ({
    ...{ type: 'object', properties: { [property]: { type: 'string' } } },
    ...{ required: [property], additionalProperties: false },
  });
  return {
    ...{ name: 'workspace_note', description: 'Take a note.', category: 'workspace', guidance: '# note' },
    ...{ executionLocation: 'client', requestSchema: only(argument), responseSchema: only(result) },
  };
}

const BEFORE = note('text', 'noteId');
const TOOLS = { tools: [BEFORE.name] };
const APPROVAL = { by: 'ada', at: '2025-06-01T12:00:00Z' };

describe('a call whose tool was changed after its acceptance:', () => {
  let first: RelayFixture;
  let server: TestServer;
  let fixture: RelayFixture;
  let turnId: string;
  let client: FakeClient;

  /** A call that a client holds when the server ends, and the next server, over the same data, with another tool. */
  async function restartedWith(tool: ToolContract): Promise<void> {
    offered = BEFORE;
    first = await Fixture.start();
    const holder = await first.client(TOOLS);
    const call = { toolCallId: 'n', name: BEFORE.name, arguments: { text: 'milk' } };
    turnId = (await first.post([call])).body.result.turnId;
    const delivery = await holder.delivery();
    await first.untilCall(turnId, 'n', 'acknowledged');
    await first.server.app.close();
    offered = tool;
    server = await startTestServer({ config: { dataDir: first.server.dataDir } });
    fixture = first.movedTo(server);
    const { callId } = delivery;
    client = await fixture.client({ tools: [tool.name] }, [{ turnId, callId, attempt: 1, state: 'running' }]);
    client.calls.push(delivery);
  }

  afterEach(async () => {
    await fixture.close();
    await server.close();
    await first.server.close();
  });

  const report = (change: Record<string, unknown>) => client.report(client.calls[0]!, change);
  const refused = { ok: false, error: { code: 'VALIDATION_ERROR' } };
  const ended = async () => (await fixture.calls(turnId)).n;

  describe.each([
    ['was gone', { ...BEFORE, name: 'workspace_other' }],
    ['was changed', note('subject', 'id')],
  ])('%s', (_what, now) => {
    beforeEach(() => restartedWith(now));

    it('has its result checked against the contract of its acceptance [RELAY-9]', async () => {
      for (const result of [{ id: '1' }, { noteId: 1 }, {}, null]) {
        expect(await report({ result })).toMatchObject(refused);
      }
      expect(await ended()).toMatchObject({ status: 'running' });
      expect(await report({ result: { noteId: '1' } })).toEqual({ ok: true });
      expect(await ended()).toMatchObject({ status: 'succeeded', result: { noteId: '1' } });
    });

    it('has its edited arguments checked against that contract', async () => {
      const edit = (editedArguments: object) =>
        report({ result: { noteId: '1' }, approval: { ...APPROVAL, decision: 'edit', editedArguments } });
      expect(await edit({ subject: 'bread' })).toMatchObject(refused);
      expect(await edit({ text: 'bread' })).toEqual({ ok: true });
    });

    it('has a posted result checked against that contract', async () => {
      const post = (result: object) => fixture.postResults(turnId, [{ toolCallId: 'n', result }]);
      expect(await post({ id: '1' })).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
      expect(await post({ noteId: '1' })).toMatchObject({ status: 200 });
      expect(await ended()).toMatchObject({ status: 'succeeded' });
    });
  });
});
