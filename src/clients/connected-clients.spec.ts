import {
  type ClientKey,
  type ClientLine,
  type ClientWish,
  ConnectedClient,
  ConnectedClients,
} from './connected-clients.js';

const TOOL = 'workspace_create_file';

class FakeLine implements ClientLine {
  readonly told: string[] = [];
  room(): Promise<void> {
    return Promise.resolve();
  }

  deliver(): Promise<{ kind: 'acknowledged' }> {
    return Promise.resolve({ kind: 'acknowledged' });
  }
  stop(): void {
    this.told.push('stop');
  }
  sessionOpened(): void {}
  filesChanged(): void {}
  readFile(): Promise<null> {
    return Promise.resolve(null);
  }
  replaced(): void {
    this.told.push('replaced');
  }
  close(): void {
    this.told.push('close');
  }
}

describe('the client that a call goes to', () => {
  let now: number;
  let clients: ConnectedClients;
  beforeEach(() => {
    now = 1_000;
    clients = new ConnectedClients({ now: () => now });
  });

  /** Connects a client, each a moment after the one before. */
  function connect(
    clientId: string,
    change: { tools?: string[]; room?: number; key?: Partial<ClientKey>; ready?: boolean } = {},
  ): ConnectedClient {
    const key = { workspaceId: 'w', userId: 'u', clientId, ...change.key };
    const client = new ConnectedClient(
      key,
      new Set(change.tools ?? [TOOL]),
      change.room ?? 1,
      new FakeLine(),
    );
    now += 1;
    clients.add(client);
    if (change.ready !== false) clients.markReady(client, []);
    return client;
  }
  const choose = (wish: Partial<ClientWish> = {}): string | null =>
    clients.choose({
      workspaceId: 'w',
      userId: 'u',
      tool: TOOL,
      roots: [],
      folder: null,
      boundClientId: null,
      preferredClientId: null,
      avoidClientId: null,
      ...wish,
    })?.key.clientId ?? null;

  it('is nobody where nobody is connected, has resumed or has the tool', () => {
    expect(choose()).toBeNull();
    connect('new', { ready: false });
    connect('viewer', { tools: ['other'] });
    expect(choose()).toBeNull();
    expect(choose({ preferredClientId: 'new' })).toBeNull();
    expect(choose({ boundClientId: 'new' })).toBeNull();
  });

  it('is never another user’s or another workspace’s', () => {
    connect('a', { key: { userId: 'other' } });
    connect('a', { key: { workspaceId: 'other' } });
    expect(choose({ boundClientId: 'a', preferredClientId: 'a' })).toBeNull();
  });

  it('is the bound one alone', () => {
    connect('a');
    expect(choose({ boundClientId: 'b', preferredClientId: 'a' })).toBeNull();
    const bound = connect('b');
    expect(choose({ boundClientId: 'b', preferredClientId: 'a', avoidClientId: 'b' })).toBe('b');
    bound.hold('call');
    expect(choose({ boundClientId: 'b' })).toBeNull();
  });

  it('is the one that the session used last, for which it waits while it is full', () => {
    const used = connect('a');
    connect('b');
    expect(choose({ preferredClientId: 'a' })).toBe('a');
    used.hold('call');
    expect(choose({ preferredClientId: 'a' })).toBeNull();
    clients.remove(used);
    expect(choose({ preferredClientId: 'a' })).toBe('b');
  });

  it('is else the most recently active one that has room', () => {
    const a = connect('a');
    const b = connect('b');
    expect(choose()).toBe('b');
    now += 1;
    clients.touch(a);
    expect(choose()).toBe('a');
    a.hold('call');
    expect(choose()).toBe('b');
    b.hold('call');
    expect(choose()).toBeNull();
    clients.free(a.key, 'call');
    expect(choose()).toBe('a');
  });

  it('is another than the one that refused, where there is another', () => {
    connect('a');
    expect(choose({ avoidClientId: 'a' })).toBe('a');
    expect(choose({ avoidClientId: 'a', preferredClientId: 'a' })).toBe('a');
    const b = connect('b');
    now += 1;
    clients.touch(clients.find({ workspaceId: 'w', userId: 'u', clientId: 'a' })!);
    expect(choose({ avoidClientId: 'a', preferredClientId: 'a' })).toBe('b');
    b.hold('call');
    expect(choose({ avoidClientId: 'a', preferredClientId: 'a' })).toBeNull();
  });
});

describe('a connection', () => {
  const key = { workspaceId: 'w', userId: 'u', clientId: 'a' };
  const connection = (): ConnectedClient => new ConnectedClient(key, new Set([TOOL]), 2, new FakeLine());

  it('is replaced by the next one of the same client, whose end alone counts as leaving', () => {
    const clients = new ConnectedClients({ now: () => 0 });
    const left: ClientKey[] = [];
    clients.left$.subscribe((gone) => left.push(gone));
    const [first, second] = [connection(), connection()];
    clients.add(first);
    clients.add(second);
    expect((first.line as FakeLine).told).toEqual(['replaced']);
    clients.remove(first);
    expect([clients.find(key), left]).toEqual([second, []]);
    clients.remove(second);
    clients.remove(second);
    expect([clients.find(key), left]).toEqual([null, [key]]);
  });

  it('tells when it can take calls: after its resume, and when a place is free again', async () => {
    const clients = new ConnectedClients({ now: () => 0 });
    const available: string[] = [];
    clients.available$.subscribe(({ clientId }) => available.push(clientId));
    const client = connection();
    clients.add(client);
    expect(available).toEqual([]);
    clients.markReady(client, ['held']);
    await client.resumed;
    client.hold('another');
    expect([available, client.hasRoom]).toEqual([['a'], false]);
    clients.free(key, 'unknown');
    expect(available).toEqual(['a']);
    clients.free(key, 'held');
    expect([available, client.hasRoom]).toEqual([['a', 'a'], true]);
  });
});
