import type { Json, ToolCallDelivery } from '@patchbay/protocol';
import { Subject } from 'rxjs';
import type { PinoLogger } from '../common/pino-logger.js';
import { aCall, aTurn, NOON } from '../turns/turn.sample.js';
import {
  type ClientLine,
  ConnectedClient,
  ConnectedClients,
  type DeliveryOutcome,
} from '../clients/connected-clients.js';
import { Lifecycle } from '../common/lifecycle.js';
import type { Config } from '../config/config.js';
import type { PatchStore } from '../storage/ports/patches.store.js';
import type { TurnStore } from '../storage/ports/turns.store.js';
import { Deliveries } from './deliveries.js';
import type { OpenTurns, TurnChange } from '../turns/open-turns.js';
import type { Turn } from '../storage/ports/turn.js';
import type { TurnInput } from '../turns/turn-input.js';
import { advance } from '../turns/turn-state.js';

const logger = { setContext: () => {}, error: () => {} } as unknown as PinoLogger;
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A line that keeps what goes over it, and answers as the test says. */
class FakeLine implements ClientLine {
  readonly sent: string[] = [];
  outcome: DeliveryOutcome = { kind: 'acknowledged' };

  hasRoom: Promise<void> = Promise.resolve();

  room(): Promise<void> {
    return this.hasRoom;
  }

  deliver({ callId, attempt, arguments: args }: ToolCallDelivery): Promise<DeliveryOutcome> {
    this.sent.push(`call ${callId}#${attempt} ${JSON.stringify(args)}`);
    return Promise.resolve(this.outcome);
  }
  stop({ callId, reason }: { callId: string; reason: string }): void {
    this.sent.push(`${reason} ${callId}`);
  }
  sessionOpened(): void {}
  filesChanged(): void {}
  readFile(): Promise<null> {
    return Promise.resolve(null);
  }
  replaced(): void {}
  close(): void {
    this.sent.push('closed');
  }
}

describe('a delivery', () => {
  const key = { workspaceId: 'w', userId: 'u', clientId: 'a' };
  let changes$: Subject<TurnChange>;
  let turn: Turn;
  let submitted: TurnInput[];
  let clients: ConnectedClients;
  let client: ConnectedClient;
  let line: FakeLine;
  let readArguments: (at: number) => Promise<Json>;
  beforeEach(() => {
    readArguments = () => Promise.resolve({ path: 'a' });
    turn = aTurn('w', { userId: 'u', calls: [aCall({ callId: 'c1' })] });
    submitted = [];
    changes$ = new Subject();
    clients = new ConnectedClients({ now: () => NOON });
    line = new FakeLine();
    client = new ConnectedClient(key, new Set(), 8, line);
    const turns = {
      changes$,
      ofCall: () => turn,
      takeUpOf: () => Promise.resolve([turn]),
      submit: (_: Turn, input: TurnInput) => Promise.resolve(void submitted.push(input)),
    };
    const store = {
      argumentsOfCall: (_: Turn, at: number) => readArguments(at),
    };
    new Deliveries(
      turns as unknown as OpenTurns,
      clients,
      store as unknown as TurnStore,
      {} as PatchStore,
      new Lifecycle(),
      { graceMs: 7 } as Config,
      logger,
    );
  });

  /** Commits inputs as one write, as a mailbox does. */
  function commit(...inputs: TurnInput[]): void {
    change(true, inputs);
  }
  /** Reads what another node has committed. */
  function observe(...inputs: TurnInput[]): void {
    change(false, inputs);
  }
  function change(own: boolean, inputs: TurnInput[]): void {
    const before = turn;
    for (const input of inputs) turn = advance(turn, input, NOON, 'node').turn;
    changes$.next({ before, after: turn, own, callArguments: null });
  }
  const claim: TurnInput = { type: 'claim', callId: 'c1', clientId: 'a', folder: [], ackWithinMs: 1_000 };
  const cancel: TurnInput = { type: 'cancel', toolCallId: null, byUserId: 'u' };
  const connect = (): void => {
    clients.add(client);
    clients.markReady(client, []);
  };

  it('follows the commit of a claim, and its acknowledgement is submitted [RELAY-5]', async () => {
    connect();
    commit(claim);
    await settled();
    expect(line.sent).toEqual(['call c1#1 {"path":"a"}']);
    expect(submitted).toMatchObject([
      { type: 'progress', callId: 'c1', clientId: 'a', status: 'acknowledged' },
    ]);
  });

  it('does not happen where the same write has ended the call', async () => {
    connect();
    commit(claim, cancel);
    await settled();
    expect(line.sent).toEqual(['cancelled c1']);
  });

  it('does not happen where the call was cancelled before its arguments were read', async () => {
    connect();
    commit(claim);
    commit(cancel);
    await settled();
    expect(line.sent).toEqual(['cancelled c1']);
  });

  it('does not overtake one that was claimed before it and has more to read', async () => {
    let read!: (args: Json) => void;
    readArguments = (at) =>
      at === 0 ? new Promise((resolve) => (read = resolve)) : Promise.resolve({ path: 'b' });
    turn = { ...turn, calls: ['c1', 'c2'].map((callId) => aCall({ callId, toolCallId: callId })) };
    connect();
    commit(claim, { ...claim, callId: 'c2' });
    await settled();
    expect(line.sent).toEqual([]);
    read({ path: 'a' });
    await settled();
    expect(line.sent).toEqual(['call c1#1 {"path":"a"}', 'call c2#1 {"path":"b"}']);
  });

  it('waits, and is not even put together, while its client leaves too much unread', async () => {
    let makeRoom!: () => void;
    line.hasRoom = new Promise((resolve) => (makeRoom = resolve));
    let reads = 0;
    readArguments = () => Promise.resolve({ path: `read ${(reads += 1)}` });
    connect();
    commit(claim);
    await settled();
    expect([line.sent, reads]).toEqual([[], 0]);
    makeRoom();
    await settled();
    expect(line.sent).toEqual(['call c1#1 {"path":"read 1"}']);
  });

  it('that can not be put together gives its call back, to be tried again', async () => {
    readArguments = () => Promise.reject(new Error('no store'));
    connect();
    commit(claim);
    await settled();
    const message = 'The server could not read the call.';
    expect(submitted).toEqual([{ type: 'refuse', callId: 'c1', clientId: 'a', attempt: 1, message }]);
    expect(line.sent).toEqual([]);
  });

  it('of an attempt that is over does not happen', async () => {
    connect();
    commit(claim, { type: 'resume', clientId: 'a', entries: [] }, claim);
    await settled();
    expect(line.sent).toEqual(['call c1#2 {"path":"a"}']);
  });

  it('waits for the resume of a client that has just connected again', async () => {
    clients.add(client);
    commit(claim);
    await settled();
    expect(line.sent).toEqual([]);
    clients.markReady(client, []);
    await settled();
    expect(line.sent).toHaveLength(1);
  });

  it('does not follow a resume that gave the call back', async () => {
    clients.add(client);
    commit(claim);
    commit({ type: 'resume', clientId: 'a', entries: [] });
    clients.markReady(client, []);
    await settled();
    expect(line.sent).toEqual([]);
  });

  it('to a client that is gone begins its grace', async () => {
    commit(claim);
    await settled();
    expect(submitted).toEqual([{ type: 'client_left', clientId: 'a', graceMs: 7 }]);
  });

  it('that another node claimed goes out where the client is', async () => {
    connect();
    observe(claim);
    await settled();
    expect(line.sent).toEqual(['call c1#1 {"path":"a"}']);
  });

  it('that another node claimed is that node’s to give back', async () => {
    observe(claim);
    await settled();
    expect(submitted).toEqual([]);
  });

  it('is stopped where another node has ended the call', async () => {
    connect();
    commit(claim);
    await settled();
    observe(cancel);
    expect(line.sent.at(-1)).toBe('cancelled c1');
  });

  it('of a turn that was just accepted has its arguments at hand', async () => {
    connect();
    turn = advance(turn, claim, NOON, 'node').turn;
    changes$.next({ before: null, after: turn, own: true, callArguments: [{ path: 'fresh' }] });
    await settled();
    expect(line.sent).toEqual(['call c1#1 {"path":"fresh"}']);
  });

  it('that is refused is submitted with its attempt and reason', async () => {
    connect();
    line.outcome = { kind: 'refused', message: 'busy' };
    commit(claim);
    await settled();
    expect(submitted).toEqual([{ type: 'refuse', callId: 'c1', clientId: 'a', attempt: 1, message: 'busy' }]);
  });

  it('that is not answered ends the connection', async () => {
    connect();
    line.outcome = { kind: 'lost' };
    commit(claim);
    await settled();
    expect(line.sent.at(-1)).toBe('closed');
    expect(submitted).toEqual([]);
  });

  it('that its client left behind gets the grace, unless the client is back', async () => {
    connect();
    commit(claim);
    await settled();
    submitted = [];
    clients.remove(client);
    clients.add(client);
    await settled();
    expect(submitted).toEqual([]);
    clients.remove(client);
    await settled();
    expect(submitted).toEqual([{ type: 'client_left', clientId: 'a', graceMs: 7 }]);
  });
});
