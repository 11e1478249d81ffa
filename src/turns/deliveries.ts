import { Injectable } from '@nestjs/common';
import type { Json, JsonObject, ToolCallDelivery } from '@patchbay/protocol';
import { PinoLogger } from 'nestjs-pino';
import { type ClientKey, type ConnectedClient, ConnectedClients } from '../clients/connected-clients.js';
import { Config } from '../config.js';
import { PatchStore } from '../storage/ports/patches.store.js';
import { TurnStore } from '../storage/ports/turns.store.js';
import { clientKey } from './dispatcher.js';
import { deadlinesOf } from './envelope.js';
import { OpenTurns } from './open-turns.js';
import type { Turn } from './turn.js';
import type { TurnEffect } from './turn-draft.js';
import type { TurnCommit } from './turn-mailbox.js';

type Deliver = Extract<TurnEffect, { type: 'deliver' }>;

/** Does what a committed turn asks for: sends calls to clients, and tells clients to stop. */
@Injectable()
export class Deliveries {
  /** Arguments of calls that were claimed as they were accepted, until they are sent: saves reading them back. */
  private readonly fresh = new Map<string, Json>();

  constructor(
    private readonly turns: OpenTurns,
    private readonly clients: ConnectedClients,
    private readonly store: TurnStore,
    private readonly patches: PatchStore,
    private readonly config: Config,
    private readonly logger: PinoLogger,
  ) {
    logger.setContext(Deliveries.name);
    turns.committed$.subscribe((commit) => this.onCommit(commit));
    clients.left$.subscribe((client) => {
      this.clientLeft(client).catch((error: unknown) =>
        this.logger.error({ err: error, ...client }, 'The grace of a client that left could not begin'),
      );
    });
  }

  /** Keeps the arguments of a call at hand for its first delivery, which follows at once. */
  keepArguments(callId: string, args: Json): void {
    this.fresh.set(callId, args);
  }

  dropArguments(callId: string): void {
    this.fresh.delete(callId);
  }

  /** Starts the grace of the calls that a client took with it unacknowledged. */
  private async clientLeft({ workspaceId, userId, clientId }: ClientKey): Promise<void> {
    const turns = await this.store.openOf(workspaceId, userId);
    await Promise.all(turns.map((turn) => this.startGrace(turn, clientId)));
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
      } else void this.deliver(after, effect).catch((error: unknown) => this.failed(effect, error));
    }
  }

  private failed({ callId }: Deliver, error: unknown): void {
    this.logger.error({ err: error, callId }, 'A delivery failed; it is repeated when its client returns');
  }

  private async deliver(turn: Turn, effect: Deliver): Promise<void> {
    const { callId, clientId, attempt } = effect;
    const args = this.fresh.get(callId) ?? (await this.readArguments(turn, callId));
    this.fresh.delete(callId);
    const client = this.clients.find(clientKey(turn, clientId));
    if (!client) return this.startGrace(turn, clientId);
    const delivery = await this.deliveryOf(turn, effect, args);
    await client.resumed;
    if (!this.isStillDue(effect)) return;
    const outcome = await client.line.deliver(delivery);
    if (outcome.kind === 'acknowledged') {
      await this.turns.submit(
        turn,
        { type: 'progress', callId, clientId, status: 'acknowledged', note: null },
        true,
      );
    } else if (outcome.kind === 'refused') {
      await this.turns.submit(turn, { type: 'refuse', callId, clientId, attempt, message: outcome.message });
    } else this.hangUp(client);
  }

  /** Whatever happened to the call since its claim was committed, such as a cancel in the same write. */
  private isStillDue({ callId, clientId, attempt }: Deliver): boolean {
    const call = this.turns.ofCall(callId)?.calls.find((candidate) => candidate.callId === callId);
    return call?.status === 'forwarded' && call.clientId === clientId && call.attempt === attempt;
  }

  /** A client that does not answer has left, whatever its socket says. */
  private hangUp(client: ConnectedClient): void {
    client.line.close();
  }

  private async readArguments(turn: Turn, callId: string): Promise<Json> {
    return this.store.argumentsOfCall(
      turn,
      turn.calls.findIndex((call) => call.callId === callId),
    );
  }

  private async deliveryOf(turn: Turn, { callId, attempt }: Deliver, args: Json): Promise<ToolCallDelivery> {
    const call = turn.calls.find((candidate) => candidate.callId === callId)!;
    const record = call.batchId === null ? null : await this.patches.byId(turn.workspaceId, call.batchId);
    return {
      callId,
      attempt,
      toolCallId: call.toolCallId,
      sessionId: turn.sessionId,
      conversationId: turn.conversationId,
      turnId: turn.turnId,
      name: call.name,
      arguments: args as JsonObject,
      deadlines: deadlinesOf(call),
      ...(record && { batch: record.batch }),
    };
  }
}
