import { type ClientChannel, ConnectedClient } from '../../clients/connected-clients.js';
import { aTurn, NOON } from '../state/turn.sample.js';
import type { Turn } from '../../storage/ports/turn.js';
import { SessionClients } from './session-clients.js';

const client = (clientId: string, ...rootIds: string[]): ConnectedClient => {
  const roots = rootIds.map((rootId) => ({ name: rootId, docPath: rootId, rootId }));
  const key = { workspaceId: 'w', userId: 'u', clientId };
  return new ConnectedClient(key, new Set(), 8, {} as ClientChannel, roots);
};

describe('the first folder of a session', () => {
  let sessions: SessionClients;
  beforeEach(() => void (sessions = new SessionClients()));
  const turn = (change: Partial<Turn> = {}): Turn => aTurn('w', { sessionId: 's', ...change });

  it('comes from the first claim, also for turns accepted before it', () => {
    const [first, second] = [turn(), turn()];
    expect(sessions.folderOf(second)).toBeNull();
    expect(sessions.reserve(first, 'c1', client('a', 'y', 'x'), NOON)).toEqual(['x', 'y']);
    expect(sessions.folderOf(second)).toEqual(['x', 'y']);
    expect(sessions.reserve(second, 'c2', client('b', 'z'), NOON)).toEqual(['x', 'y']);
    expect(sessions.folderOf(turn({ sessionId: 'another' }))).toBeNull();
  });

  it('comes from the turn if it knows one', () => {
    sessions.reserve(turn(), 'c1', client('a', 'x'), NOON);
    expect(sessions.folderOf(turn({ folder: [] }))).toEqual([]);
    expect(sessions.reserve(turn({ folder: ['z'] }), 'c2', client('b', 'y'), NOON)).toEqual(['z']);
  });

  it('is unset after a failed claim, unless another was committed', () => {
    sessions.reserve(turn(), 'c1', client('a', 'x'), NOON);
    sessions.release(turn(), 'another call');
    expect(sessions.folderOf(turn())).toEqual(['x']);
    sessions.release(turn(), 'c1');
    expect([sessions.folderOf(turn()), sessions.preferred(turn())]).toEqual([null, null]);
    sessions.reserve(turn(), 'c1', client('a', 'x'), NOON);
    sessions.used(turn({ folder: ['x'] }), 'a', NOON);
    sessions.release(turn(), 'c1');
    expect([sessions.folderOf(turn()), sessions.preferred(turn())]).toEqual([['x'], 'a']);
  });

  it('is restored from the store with the session’s client, if nothing newer is known', () => {
    sessions.recall(turn(), { lastClientId: 'a', folder: ['x'] });
    expect([sessions.folderOf(turn()), sessions.preferred(turn())]).toEqual([['x'], 'a']);
    sessions.recall(turn(), { lastClientId: 'b', folder: ['y'] });
    expect([sessions.folderOf(turn()), sessions.preferred(turn())]).toEqual([['x'], 'a']);
  });

  it('follows a later turn that knows a newer client, used on another node', () => {
    sessions.used(turn(), 'a', NOON);
    expect(sessions.preferred(turn({ acceptedAt: NOON, lastClientId: 'b' }))).toBe('a');
    expect(sessions.preferred(turn({ acceptedAt: NOON + 1, lastClientId: 'b' }))).toBe('b');
    expect(sessions.preferred(turn({ acceptedAt: NOON + 1, lastClientId: null }))).toBe('a');
  });
});
