import { Injectable } from '@nestjs/common';
import { Memberships } from '../../access/memberships.js';
import { yieldIfBusy } from '../../common/yield-if-busy.js';
import { PinoLogger } from '../../common/pino-logger.js';
import { Bus } from '../../events/bus.js';
import { EVERY_NODE } from '../../events/channels.js';
import { KeyLocks } from '../../common/key-locks.js';
import { userKey } from '../../common/keys.js';
import { Sweep } from '../../common/sweep.js';
import { Config } from '../../config/config.js';
import { type OpenTurnName, TurnStore } from '../../storage/ports/turns.store.js';
import { type Removal, WorkspaceStore } from '../../storage/ports/workspaces.store.js';
import { OpenTurns, type TurnChange } from './open-turns.js';

/** Removals per round, and turns per query. */
const BATCH = 100;

/** The message to the model for calls of a removed user. */
export const NO_MEMBER = 'The call was cancelled: its user is no longer a member of the workspace.';

/**
 * Cancels the open turns of removed members, with the remover as actor. The removal stays stored until that is done, so
 * any node finishes it after a crash or a lost hint.
 */
@Injectable()
export class RemovedMembers extends Sweep {
  private readonly users = new KeyLocks();

  constructor(
    private readonly workspaces: WorkspaceStore,
    private readonly store: TurnStore,
    private readonly turns: OpenTurns,
    private readonly memberships: Memberships,
    bus: Bus,
    { catchUpMs }: Config,
    logger: PinoLogger,
  ) {
    super(catchUpMs, logger);
    bus.subscribe(EVERY_NODE, (message) => {
      if (message.type === 'member_removed') void this.round();
    });
  }

  /** Handles a removal that the bus lost, on the next change of the turn. Part of `TurnReactions`. */
  react({ after }: TurnChange): void {
    if (after.status === 'open') return;
    if (after.calls.some(({ error }) => error?.message === NO_MEMBER)) this.memberships.changed(after);
  }

  override async onApplicationBootstrap(): Promise<void> {
    await this.round();
    await super.onApplicationBootstrap();
  }

  /** A failed removal does not block the others; the next round retries it. */
  protected async sweep(): Promise<void> {
    const failures: unknown[] = [];
    for (const removal of await this.workspaces.unsettled(BATCH)) {
      try {
        await this.users.hold([userKey(removal)], () => this.settle(removal));
      } catch (error) {
        const { workspaceId, userId } = removal;
        this.logger.error({ err: error, workspaceId, userId }, 'The turns of a removed member go on for now');
        failures.push(error);
      }
    }
    if (failures.length > 0)
      throw new AggregateError(failures, `${failures.length} removals are not settled`);
  }

  /** Keeps turns that were accepted after the user was added again. */
  private async settle(removal: Removal): Promise<void> {
    const { workspaceId, userId, byUserId, removedAt } = removal;
    const isBack = (await this.workspaces.roleOf(workspaceId, userId)) !== null;
    let page: OpenTurnName[] = [];
    do {
      page = await this.store.openIn(workspaceId, userId, page.at(-1) ?? null, BATCH);
      for (const turn of page.filter(({ acceptedAt }) => !isBack || acceptedAt <= removedAt)) {
        await this.turns.submit(turn, { type: 'cancel', toolCallId: null, byUserId, why: NO_MEMBER });
        await yieldIfBusy();
      }
    } while (page.length === BATCH);
    await this.workspaces.settled(removal);
  }
}
