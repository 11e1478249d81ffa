import { Injectable } from '@nestjs/common';
import type { Json, ToolCallDelivery } from '@patchbay/protocol';
import { PinoLogger } from '../../common/pino-logger.js';
import { Lifecycle } from '../../common/lifecycle.js';
import { persist } from '../../common/persist.js';
import { Config } from '../../config/config.js';
import { PatchStore } from '../../storage/ports/patches.store.js';
import type { Turn } from '../../storage/ports/turn.js';
import { callOf, positionOf } from '../../storage/ports/turn-calls.js';
import { TurnStore } from '../../storage/ports/turns.store.js';
import { OpenTurns, type TurnChange } from './open-turns.js';
import { effectsOf, type TurnEffect } from '../state/turn-effects.js';
import type { TurnInput } from '../state/turn-input.js';
import { deliveryOf } from './call-delivery.js';
import {
  type ClientKey,
  type ConnectedClient,
  ConnectedClients,
  type DeliveryOutcome,
} from '../../clients/connected-clients.js';
import { clientKey } from './dispatcher.js';

/** A due call, with what is needed to send it. */
interface Delivery {
  effect: TurnEffect & { type: 'deliver' };
  turn: Turn;
  client: ConnectedClient;
  /** Kept only right after acceptance here, to avoid reading them back. */
  callArguments: readonly Json[] | null;
}

/** Applies a changed turn to the clients of this node: sends calls and stops them. */
@Injectable()
export class Deliveries {
  /** The last pending delivery of each client. */
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
    clients.left$.subscribe((client) => void this.clientLeft(client));
  }

  /** Starts the grace period of the unacknowledged calls of a client that left. */
  private async clientLeft(client: ClientKey): Promise<void> {
    const { workspaceId, userId, clientId } = client;
    await this.persist(client, 'The grace of a client that left could not begin', async () => {
      const turns = await this.turns.takeUpOf({ workspaceId, userId });
      await Promise.all(turns.map((turn) => this.startGrace(turn, clientId)));
    });
  }

  /** The same for one turn. */
  private async startGrace(turn: Turn, clientId: string): Promise<void> {
    // A client that is back reconciles its calls by its resume.
    if (this.clients.find(clientKey(turn, clientId))) return;
    if (!turn.calls.some((call) => call.clientId === clientId && call.status === 'forwarded')) return;
    await this.turns.submit(turn, { type: 'client_left', clientId, graceMs: this.config.graceMs });
  }

  /** Part of `TurnReactions`. */
  react({ before, after: turn, own, callArguments }: TurnChange): void {
    for (const effect of effectsOf(before, turn)) {
      const client = this.clients.find(clientKey(turn, effect.clientId));
      if (effect.type === 'stop') client?.channel.stop({ callId: effect.callId, reason: effect.reason });
      else if (client) this.enqueue({ effect, turn, client, callArguments });
      // It left after it was chosen. If another node chose it, that node handles it.
      else if (own) void this.clientLeft(clientKey(turn, effect.clientId));
    }
  }

  /** Sends a client's calls in claim order, however long each takes to prepare. */
  private enqueue(delivery: Delivery): void {
    const { client } = delivery;
    const before = this.tails.get(client) ?? Promise.resolve();
    const emitted = before.then(async () => {
      await client.channel.backpressure();
      await this.emit(delivery, await this.prepare(delivery));
    });
    const settled = emitted.catch((error: unknown) => this.release(delivery, error));
    this.tails.set(client, settled);
  }

  /** Sends the call if it is still due; the outcome is handled separately. */
  private async emit(delivery: Delivery, call: ToolCallDelivery): Promise<void> {
    await delivery.client.resumed;
    if (!this.isStillDue(delivery)) return;
    const outcome = delivery.client.channel.deliver(call);
    void outcome.then((settled) => this.settle(delivery, settled));
  }

  private async settle({ effect, turn, client }: Delivery, outcome: DeliveryOutcome): Promise<void> {
    // A client that does not acknowledge has left, even if its socket is open.
    if (outcome.kind === 'lost') return client.channel.close();
    const { callId, clientId, attempt } = effect;
    const input: TurnInput =
      outcome.kind === 'acknowledged'
        ? { type: 'progress', callId, clientId, status: 'acknowledged', note: null }
        : { type: 'refuse', callId, clientId, attempt, message: outcome.message };
    await this.persist({ callId }, 'The answer to a delivery could not be recorded', async () => {
      await this.turns.submit(turn, input, outcome.kind === 'acknowledged');
    });
  }

  /** The call could not be prepared: it is released as if its client had refused it, and retried. */
  private async release({ effect, turn }: Delivery, error: unknown): Promise<void> {
    const { callId, clientId, attempt } = effect;
    this.logger.error({ err: error, callId }, 'A call could not be sent; it is tried again');
    const message = 'The server could not read the call.';
    await this.persist({ callId }, 'A call that was not sent could not be given back', async () => {
      await this.turns.submit(turn, { type: 'refuse', callId, clientId, attempt, message });
    });
  }

  private async persist(about: object, fault: string, work: () => Promise<void>): Promise<void> {
    const logFailure = (error: unknown): void => this.logger.error({ err: error, ...about }, fault);
    await persist(work, this.lifecycle.stopping, logFailure).catch(logFailure);
  }

  /** Whether the claim still holds; the same write may contain a cancel. */
  private isStillDue({ effect: { callId, clientId, attempt } }: Delivery): boolean {
    const call = callOf(this.turns.ofCall(callId), callId);
    return call?.status === 'forwarded' && call.clientId === clientId && call.attempt === attempt;
  }

  private async prepare({ effect, turn, callArguments }: Delivery): Promise<ToolCallDelivery> {
    const at = positionOf(turn.calls, effect.callId);
    const call = turn.calls[at]!;
    const args = callArguments?.[at] ?? (await this.store.argumentsOfCall(turn, at));
    const record = call.batchId === null ? null : await this.patches.byId(turn.workspaceId, call.batchId);
    return deliveryOf(turn, call, args, record && record.batch);
  }
}
