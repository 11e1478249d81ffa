import { Injectable } from '@nestjs/common';
import { PinoLogger } from '../../common/pino-logger.js';
import { Bus } from '../../events/bus.js';
import type { BusMessage } from '../../events/messages.js';
import { userChannel } from '../../events/channels.js';
import { FollowedChannels } from '../../events/followed-channels.js';
import { StoreLook } from '../../events/store-look.js';
import { Config } from '../../config/config.js';
import { NodeId } from '../../storage/ports/node-id.js';
import type { Membership, Turn, TurnRef } from '../../storage/ports/turn.js';
import { TurnStore } from '../../storage/ports/turns.store.js';
import { OpenTurns, type TurnChange } from './open-turns.js';
import { turnKey, userKey } from '../../common/keys.js';

/**
 * Keeps this node up to date with commits of others. Each commit is published on its user's channel. Nodes subscribe if
 * they have clients or open turns of the user. Polling the store covers lost messages.
 */
@Injectable()
export class TurnHints extends StoreLook {
  /** Users with clients on this node. */
  private readonly followed = new Map<string, Membership>();
  /** Open turns that this node knows. */
  private readonly open = new Set<string>();
  private readonly channels: FollowedChannels;

  constructor(
    bus: Bus,
    private readonly turns: OpenTurns,
    private readonly store: TurnStore,
    private readonly node: NodeId,
    config: Config,
    logger: PinoLogger,
  ) {
    super(bus, config, logger);
    this.channels = new FollowedChannels(bus, (message) => {
      if (message.type === 'turn_changed') this.onHint(message);
    });
  }

  /** Loads every turn of this user from now on, since they have clients on this node. */
  follow(user: Membership): void {
    if (this.followed.has(userKey(user))) return;
    this.followed.set(userKey(user), user);
    this.channels.follow(userChannel(user));
  }

  unfollow(user: Membership): void {
    if (this.followed.delete(userKey(user))) this.channels.unfollow(userChannel(user));
  }

  protected override isWaiting(): boolean {
    return this.open.size > 0;
  }

  /** Compares the open turns in the store, by id and version, with those known here. */
  protected override async look(): Promise<void> {
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
    // Turns that remain are no longer open.
    for (const turn of known.values()) await this.turns.refresh(turn);
  }

  /** Announces this node's commits to others. Part of `TurnReactions`. */
  react({ after, own }: TurnChange): void {
    this.followTurn(after);
    if (own) this.publish(after);
  }

  /** Subscribes to changes of an open turn by other nodes. */
  private followTurn(turn: Turn): void {
    const key = turnKey(turn);
    if (turn.status === 'open') {
      if (this.open.has(key)) return;
      this.open.add(key);
      this.channels.follow(userChannel(turn));
    } else if (this.open.delete(key)) this.channels.unfollow(userChannel(turn));
  }

  private publish({ workspaceId, sessionId, turnId, userId, version }: Turn): void {
    const node = this.node.value;
    this.bus.publish({ type: 'turn_changed', node, workspaceId, sessionId, turnId, userId, version });
  }

  private onHint(hint: BusMessage & { type: 'turn_changed' }): void {
    if (hint.node === this.node.value) return;
    const known = this.turns.peek(hint);
    if (known ? known.version >= hint.version : !this.followed.has(userKey(hint))) return;
    void this.refresh(hint);
  }

  private async refresh(ref: TurnRef): Promise<void> {
    await this.turns.refresh(ref).catch((error: unknown) => {
      this.logger.warn(
        { err: error, turnId: ref.turnId },
        'A hint could not be followed; the next look finds it',
      );
    });
  }
}
