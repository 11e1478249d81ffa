import { jest } from '@jest/globals';
import type { FilesChanged } from '@patchbay/protocol';
import { Subject } from 'rxjs';
import type { Bus } from '../events/bus.js';
import type { BusMessage } from '../events/messages.js';
import type { FileHeads, HeadChange } from '../files/file-heads.js';
import type { ClientMessages } from './client-messages.js';
import { type ClientChannel, ConnectedClient, ConnectedClients } from './connected-clients.js';
import { FileNotices } from './file-notices.js';

const PROJ = { name: 'proj', docPath: 'proj', rootId: 'r' };

describe('the notices of changed files', () => {
  let changed$: Subject<HeadChange>;
  let messages$: Subject<BusMessage>;
  let clients: ConnectedClients;
  let published: number;
  beforeEach(() => {
    jest.useFakeTimers();
    published = 0;
    changed$ = new Subject();
    messages$ = new Subject();
    clients = new ConnectedClients({ now: () => 0 });
    const publish = (message: BusMessage): void => {
      published += 1;
      messages$.next(message);
    };
    const messages = { received$: messages$ } as ClientMessages;
    new FileNotices({ changed$ } as FileHeads, clients, { publish } as Bus, messages);
  });
  afterEach(() => jest.useRealTimers());

  /** The notices that a client with the folder receives from here on. */
  function connect(clientId: string, ready = true): FilesChanged[] {
    const sent: FilesChanged[] = [];
    const channel = {
      filesChanged: (changed: FilesChanged) => sent.push(changed),
    } as unknown as ClientChannel;
    const key = { workspaceId: 'w', userId: 'u', clientId };
    const client = new ConnectedClient(key, new Set(), 8, channel, [PROJ]);
    clients.add(client);
    if (ready) clients.markReady(client, []);
    return sent;
  }
  function change(
    from: number,
    to: number,
    clientId: string | null = null,
    sha256: string | null = 's',
  ): void {
    for (let at = from; at < to; at += 1) {
      const docPath = `proj/${at}`;
      changed$.next({ workspaceId: 'w', userId: 'u', clientId, path: `/${docPath}`, docPath, sha256 });
    }
  }

  it('are collected for 0.1 s, each file in its last state', () => {
    const sent = connect('a');
    change(0, 2);
    jest.advanceTimersByTime(99);
    change(1, 2, null, null);
    expect(sent).toEqual([]);
    jest.advanceTimersByTime(1);
    expect([sent.length, sent[0]!.more, sent[0]!.files.map(({ sha256 }) => sha256)]).toEqual([
      ...[1, false, ['s', null]],
    ]);
    change(5, 6);
    jest.advanceTimersByTime(100);
    expect(sent[1]!.files).toEqual([{ path: '/proj/5', docPath: 'proj/5', sha256: 's' }]);
  });

  it('name a hundred files, and omit a client’s own changes', () => {
    const [a, b] = [connect('a'), connect('b')];
    change(0, 250, 'a');
    jest.advanceTimersByTime(100);
    expect(a).toEqual([]);
    expect([b[0]!.files.length, b[0]!.more]).toEqual([100, true]);
    change(0, 250, 'a');
    change(250, 251, 'b');
    jest.advanceTimersByTime(100);
    // One of the unnamed files was not changed by the client itself.
    expect(a).toEqual([{ files: [], more: true }]);
    expect(b[1]!.more).toBe(true);
    change(0, 100, 'b');
    change(100, 101, 'a');
    jest.advanceTimersByTime(100);
    expect([a[1]!.files.length, a[1]!.more, b[2]]).toEqual([100, false, { files: [], more: true }]);
  });

  it('are sent only to resumed clients, and only for files in folders', () => {
    const sent = connect('a', false);
    change(0, 1);
    const sibling = { path: '/proj', docPath: 'proj', sha256: 's' };
    changed$.next({ workspaceId: 'w', userId: 'u', clientId: null, ...sibling });
    jest.advanceTimersByTime(100);
    expect([sent, published]).toEqual([[], 1]);
  });
});
