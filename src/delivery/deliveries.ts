import { Injectable } from '@nestjs/common';
import type { Json, ToolCallDelivery } from '@patchbay/protocol';
import { PinoLogger } from 'nestjs-pino';
import {
  type ClientKey,
  type ConnectedClient,
  ConnectedClients,
  type DeliveryOutcome,
} from './connected-clients.js';
import { Lifecycle } from '../common/lifecycle.js';
import { persist } from '../common/persist.js';
import { Config } from '../config/config.js';
import { PatchStore } from '../storage/ports/patches.store.js';
import { TurnStore } from '../storage/ports/turns.store.js';
import { clientKey } from './dispatcher.js';
import { deliveryOf } from './call-delivery.js';
import { OpenTurns } from '../turns/open-turns.js';
import type { Turn } from '../storage/ports/turn.js';
import type { TurnEffect } from '../turns/turn-draft.js';
import type { TurnCommit } from '../turns/turn-mailbox.js';
import type { TurnInput } from '../turns/turn-state.js';

type Deliver = Extract<TurnEffect, { type: 'deliver' }>;

/** Does what a committed turn asks for: sends calls to clients, and tells clients to stop. */
@Injectable()
export class Deliveries {
  /** Arguments of calls that were claimed as they were accepted, until they are sent: saves reading them back. */
  private readonly fresh = new Map<string, Json>();
  /** The last delivery on its way to each client. */
  private readonly tails = new WeakMap<ConnectedClient, Promise<void>>();

  constructor(
    private readonly turns: OpenTurns,
    private readonly clients: ConnectedClients,
    private readonly store: TurnStore,
    private readonly patches: PatchStore,
    private readonly lifecycle: Lifecycle,
    private readonly config: Config,
    private readonly logger: PinoLogger,
  ) {
    logger.setContext(Deliveries.name);
    turns.committed$.subscribe((commit) => this.onCommit(commit));
    clients.left$.subscribe((client) => void this.clientLeft(client));
  }

  /** Keeps the arguments of a call at hand for its first delivery, which follows at once. */
  keepArguments(callId: string, args: Json): void {
    this.fresh.set(callId, args);
  }

  dropArguments(callId: string): void {
    this.fresh.delete(callId);
  }

  /** Starts the grace of the calls that a client took with it unacknowledged. */
  private async clientLeft(client: ClientKey): Promise<void> {
    const { workspaceId, userId, clientId } = client;
    await this.persist(client, 'The grace of a client that left could not begin', async () => {
      const turns = await this.store.openOf(workspaceId, userId);
      await Promise.all(turns.map((turn) => this.startGrace(turn, clientId)));
    });
  }

  /** The same for one turn. */
  async startGrace(turn: Turn, clientId: string): Promise<void> {
    const newest = this.turns.watch(turn);
    // A client that is back already sorts its calls out by its resume.
    if (this.clients.find(clientKey(turn, clientId))) return;
    if (!newest.calls.some((call) => call.clientId === clientId && call.status === 'forwarded')) return;
    await this.turns.submit(turn, { type: 'client_left', clientId, graceMs: this.config.graceMs });
  }

  private onCommit({ after, effects }: TurnCommit): void {
    for (const effect of effects) {
      if (effect.type === 'stop_client') {
        const { callId, reason } = effect;
        this.clients.find(clientKey(after, effect.clientId))?.line.stop({ callId, reason });
      } else this.enqueue(after, effect);
    }
  }

  /** Calls go out to a client in the order of their claims, however long each takes to be put together. */
  private enqueue(turn: Turn, effect: Deliver): void {
    const client = this.clients.find(clientKey(turn, effect.clientId));
    const prepared = this.prepare(turn, effect);
    // Whoever awaits it may still be waiting for the call before: a fault must not count as nobody's meanwhile.
    prepared.catch(() => undefined);
    const before = (client && this.tails.get(client)) ?? Promise.resolve();
    const emitted = before.then(async () => this.emit(turn, effect, client, await prepared));
    const settled = emitted.catch((error: unknown) => this.giveBack(turn, effect, error));
    if (client) this.tails.set(client, settled);
  }

  /** Sends the call, unless things have changed; what becomes of it is taken care of apart. */
  private async emit(
    turn: Turn,
    effect: Deliver,
    client: ConnectedClient | null,
    delivery: ToolCallDelivery,
  ): Promise<void> {
    if (!client) return this.startGrace(turn, effect.clientId);
    await client.resumed;
    if (!this.isStillDue(effect)) return;
    const outcome = client.line.deliver(delivery);
    void outcome.then((settled) => this.settle(turn, effect, client, settled));
  }

  private async settle(
    turn: Turn,
    { callId, clientId, attempt }: Deliver,
    client: ConnectedClient,
    outcome: DeliveryOutcome,
  ): Promise<void> {
    // A client that does not answer has left, whatever its socket says.
    if (outcome.kind === 'lost') return client.line.close();
    const input: TurnInput =
      outcome.kind === 'acknowledged'
        ? { type: 'progress', callId, clientId, status: 'acknowledged', note: null }
        : { type: 'refuse', callId, clientId, attempt, message: outcome.message };
    await this.persist({ callId }, 'The answer to a delivery could not be recorded', async () => {
      await this.turns.submit(turn, input, outcome.kind === 'acknowledged');
    });
  }

  /** The call could not be put together: it goes back, as if its client had refused it, and is tried again. */
  private async giveBack(turn: Turn, { callId, clientId, attempt }: Deliver, error: unknown): Promise<void> {
    this.logger.error({ err: error, callId }, 'A call could not be sent; it is tried again');
    const message = 'The server could not read the call.';
    await this.persist({ callId }, 'A call that was not sent could not be given back', async () => {
      await this.turns.submit(turn, { type: 'refuse', callId, clientId, attempt, message });
    });
  }

  private async persist(about: object, fault: string, work: () => Promise<void>): Promise<void> {
    const tell = (error: unknown): void => this.logger.error({ err: error, ...about }, fault);
    await persist(work, this.lifecycle.stopping, tell).catch(tell);
  }

  /** Whatever happened to the call since its claim was committed, such as a cancel in the same write. */
  private isStillDue({ callId, clientId, attempt }: Deliver): boolean {
    const call = this.turns.ofCall(callId)?.calls.find((candidate) => candidate.callId === callId);
    return call?.status === 'forwarded' && call.clientId === clientId && call.attempt === attempt;
  }

  private async prepare(turn: Turn, effect: Deliver): Promise<ToolCallDelivery> {
    const args = this.fresh.get(effect.callId) ?? (await this.readArguments(turn, effect.callId));
    this.fresh.delete(effect.callId);
    const call = turn.calls.find(({ callId }) => callId === effect.callId)!;
    const record = call.batchId === null ? null : await this.patches.byId(turn.workspaceId, call.batchId);
    return deliveryOf(turn, call, args, record && record.batch);
  }

  private async readArguments(turn: Turn, callId: string): Promise<Json> {
    return this.store.argumentsOfCall(
      turn,
      turn.calls.findIndex((call) => call.callId === callId),
    );
  }
}
