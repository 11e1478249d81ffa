import { Injectable } from '@nestjs/common';
import { PinoLogger } from '../../common/pino-logger.js';
import { Bus, type BusMessage } from '../../events/bus.js';
import { Sweep } from '../../common/sweep.js';
import { Config } from '../../config/config.js';
import { NodeId } from '../../storage/ports/node-id.js';
import type { Membership, Turn, TurnRef } from '../../storage/ports/turn.js';
import { TurnStore } from '../../storage/ports/turns.store.js';
import { OpenTurns, type TurnChange } from './open-turns.js';
import { turnKey, userKey } from '../../common/keys.js';

/**
 * Keeps this node up to date with what others commit. Each commit is hinted at over the bus; whoever knows the turn, or
 * has clients of its user, looks in the store. A sweep finds what a lost hint left unnoticed.
 */
@Injectable()
export class TurnHints extends Sweep {
  private readonly followed = new Map<string, Membership>();

  constructor(
    private readonly bus: Bus,
    private readonly turns: OpenTurns,
    private readonly store: TurnStore,
    private readonly node: NodeId,
    { catchUpMs }: Config,
    logger: PinoLogger,
  ) {
    super(catchUpMs, logger);
    bus.messages$.subscribe((message) => message.type === 'turn_changed' && this.onHint(message));
  }

  /** From now on every turn of this user is taken up here: they have clients on this node. */
  follow(user: Membership): void {
    this.followed.set(userKey(user), user);
  }

  unfollow(user: Membership): void {
    this.followed.delete(userKey(user));
  }

  /** Compares what is open, by name and version, with what this node knows. */
  protected async sweep(): Promise<void> {
    const known = new Map(this.turns.all().map((turn) => [turnKey(turn), turn]));
    const users = new Map(this.followed);
    for (const turn of known.values()) users.set(userKey(turn), turn);
    if (users.size === 0) return;
    const open = await this.store.openVersionsOf([...users.values()]);
    for (const ref of open) {
      const turn = known.get(turnKey(ref));
      known.delete(turnKey(ref));
      if (turn ? turn.version < ref.version : this.followed.has(userKey(ref))) await this.turns.refresh(ref);
    }
    // What is left is not open any more.
    for (const turn of known.values()) await this.turns.refresh(turn);
  }

  /** Tells the other nodes what this one has committed. Part of `TurnReactions`. */
  react({ after, own }: TurnChange): void {
    if (own) this.publish(after);
  }

  private publish({ workspaceId, sessionId, turnId, userId, version }: Turn): void {
    const node = this.node.value;
    this.bus.publish({ type: 'turn_changed', node, workspaceId, sessionId, turnId, userId, version });
  }

  private onHint(hint: BusMessage & { type: 'turn_changed' }): void {
    if (hint.node === this.node.value) return;
    const known = this.turns.peek(hint);
    if (known ? known.version >= hint.version : !this.followed.has(userKey(hint))) return;
    void this.look(hint);
  }

  private async look(ref: TurnRef): Promise<void> {
    await this.turns.refresh(ref).catch((error: unknown) => {
      this.logger.warn(
        { err: error, turnId: ref.turnId },
        'A hint could not be followed; the sweep finds it',
      );
    });
  }
}
