import type { PinoLogger } from '../common/pino-logger.js';
import { Subject } from 'rxjs';
import { type ClientLine, ConnectedClient, type ConnectedClients } from '../clients/connected-clients.js';
import type { Config } from '../config/config.js';
import type { Membership, SessionUse, Turn } from '../storage/ports/turn.js';
import type { TurnStore } from '../storage/ports/turns.store.js';
import type { OpenTurns, TurnChange } from '../turns/open-turns.js';
import type { TurnAnswer } from '../turns/turn-draft.js';
import type { TurnHints } from '../turns/turn-hints.js';
import type { TurnInput } from '../turns/turn-input.js';
import { advance } from '../turns/turn-state.js';
import { NOON } from '../turns/turn.sample.js';
import { Dispatcher } from './dispatcher.js';

export const LINE = { stop: () => {}, replaced: () => {}, close: () => {} } as unknown as ClientLine;
const logger = { setContext: () => {}, error: () => {} } as unknown as PinoLogger;

/** Turns in memory: an input is applied and committed when the test says so, or right away. */
export class FakeTurns {
  readonly changes$ = new Subject<TurnChange>();
  readonly byId = new Map<string, Turn>();
  readonly claims: string[] = [];
  tries = 0;
  private held: (() => void)[] | null = null;
  fault: Error | null = null;

  async submit({ turnId }: Turn, input: TurnInput): Promise<TurnAnswer> {
    this.tries += 1;
    if (this.held) await new Promise<void>((go) => this.held!.push(go));
    if (this.fault) throw this.fault;
    const before = this.byId.get(turnId)!;
    const { turn: after, answer } = advance(before, input, NOON, 'node');
    this.byId.set(turnId, after);
    if (input.type === 'claim' && answer.ok) this.claims.push(`${input.callId}→${input.clientId}`);
    this.changes$.next({ before, after, own: true, callArguments: null });
    return answer;
  }

  hold(): void {
    this.held = [];
  }

  async letGo(): Promise<void> {
    const held = this.held ?? [];
    this.held = null;
    held.forEach((go) => go());
    await settled();
  }
}

/** Once all that can happen at once has happened. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Clients of user `u` in workspace `w`. */
export function connectTo(
  clients: ConnectedClients,
  clientId: string,
  room = 1,
  userId = 'u',
): ConnectedClient {
  const key = { workspaceId: 'w', userId, clientId };
  const client = new ConnectedClient(key, new Set(['workspace_create_file']), room, LINE);
  clients.add(client);
  clients.markReady(client, []);
  return client;
}

/** @param use what the store says that a session has used. @param followed whose turns the node follows. */
export function newDispatcher(
  turns: FakeTurns,
  clients: ConnectedClients,
  { use, followed }: { use: () => Promise<SessionUse | null>; followed: Set<string> },
): Dispatcher {
  return new Dispatcher(
    turns as unknown as OpenTurns,
    clients,
    { lastUseOf: use } as unknown as TurnStore,
    { graceMs: 10_000 } as Config,
    { now: () => NOON },
    logger,
    {
      follow: ({ userId }: Membership) => followed.add(userId),
      unfollow: ({ userId }: Membership) => followed.delete(userId),
    } as unknown as TurnHints,
  );
}
