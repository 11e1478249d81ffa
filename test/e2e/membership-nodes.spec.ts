import type { InvokeResult, Session, TurnResult } from '@patchbay/protocol';
import { storesOf } from '../contract/backends.js';
import { testFixture } from '../support/fixtures.js';
import { hold } from '../support/hold.js';
import { readTrail } from '../support/invariants.js';
import { type Line, TestNodes } from '../support/nodes.js';
import { TestUser } from '../support/test-user.js';
import { waitFor } from '../support/wait-for.js';

describe('a member who is removed on another node than that of the turn', () => {
  const nodes = testFixture(() => TestNodes.open({ catchUpMs: 250 }));

  it.each<Line>(['sound', 'faulty', 'cut'])(
    'reads and writes nothing more, and a waiting request is rejected, over a bus that is %s [MEMBER-2]',
    async (line) => {
      const [a, b] = [await nodes.start('a'), await nodes.start('b')];
      const [ada, ben] = [await a.register(), await a.register()];
      const there = new TestUser(b, ben.credentials);
      const { id } = await ada.createWorkspace();
      await ada.addMember(id, ben);
      await ada.request('PUT', `/workspaces/${id}/contents/a`, Buffer.from('needle'));
      const { body: session } = await ben.post<Session>(`/workspaces/${id}/sessions`, {});
      nodes.network.line = line;
      const slow = hold(storesOf(b.app).blobs, 'read');
      const call = (name: string, args: object) => ({ toolCallId: name, name, arguments: args });
      const posted = there.post<InvokeResult<TurnResult>>(
        `/workspaces/${id}/sessions/${session.sessionId}/turns`,
        { toolCalls: [call('grep', { pattern: 'needle' }), call('write', { path: '/b', content: 'x' })] },
      );
      await slow.reached;
      expect((await ada.request('DELETE', `/workspaces/${id}/members/${ben.id}`)).status).toBe(204);
      const ends = async () =>
        (await readTrail(ada, id)).filter(({ name }) => /^Tool.*(Cancelled|ResultReceived)/.test(name));
      await waitFor(async () => (await ends()).length === 2, 'the turn cancelled');
      slow.release();
      expect((await posted).status).toBe(403);
      expect((await ends()).map(({ name, actor }) => [name, actor.userId])).toEqual([
        ['Tool.Grep.Cancelled', ada.id],
        ['Tool.Write.Cancelled', ada.id],
      ]);
      expect((await ada.get(`/workspaces/${id}/contents/b`)).status).toBe(404);
    },
  );
});
