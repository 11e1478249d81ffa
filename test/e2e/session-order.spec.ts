import type { Session } from '@patchbay/protocol';
import { ShiftedClock } from '../support/shifted-clock.js';
import { startTestServer } from '../support/server.js';

describe('the sessions of a user', () => {
  it('are listed newest first although the clock was set back', async () => {
    const clock = new ShiftedClock();
    const server = await startTestServer({ clock });
    const user = await server.register();
    const { id } = await user.createWorkspace();
    const path = `/workspaces/${id}/sessions`;
    const begun: string[] = [];
    for (const ms of [0, 300_000, -600_000, 0]) {
      clock.pass(ms);
      begun.unshift((await user.post<Session>(path, {})).body.sessionId);
    }
    const { body } = await user.get<{ sessions: Session[]; nextCursor: string }>(`${path}?limit=3`);
    const { body: rest } = await user.get<{ sessions: Session[] }>(
      `${path}?limit=3&cursor=${body.nextCursor}`,
    );
    expect([...body.sessions, ...rest.sessions].map(({ sessionId }) => sessionId)).toEqual(begun);
    await server.close();
  });
});
