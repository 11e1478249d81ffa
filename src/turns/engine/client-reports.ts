import { Injectable } from '@nestjs/common';
import { type ResumeAnswer } from '@patchbay/protocol';
import { PinoLogger } from '../../common/pino-logger.js';
import type { ClientKey } from '../../clients/connected-clients.js';
import { yieldIfBusy } from '../../common/yield-if-busy.js';
import { DomainError } from '../../common/domain-error.js';
import { turnKey } from '../../common/keys.js';
import { TurnStore } from '../../storage/ports/turns.store.js';
import { callOf, positionOf } from '../../storage/ports/turn-calls.js';
import { OpenTurns } from './open-turns.js';
import { type Outcome, ResultCheck } from './result-check.js';
import type { Membership, Turn } from '../../storage/ports/turn.js';
import type { TurnAnswer } from '../state/turn-draft.js';
import type { ResumedCall, ProgressStatus } from '../state/turn-input.js';
import { isInFlight } from '../state/turn-state.js';

/** A call as a client identifies it. */
export interface ClientCall {
  turnId: string;
  callId: string;
}

/** A client's journal entry. */
export interface ClientEntry extends ClientCall, Outcome {
  state: ProgressStatus | 'succeeded' | 'failed' | 'denied';
}

/** A turn affected by a client's resume, with its journal entries. */
interface ResumedTurn {
  turn: Turn;
  entries: ClientEntry[];
}

/** Handles what connected clients report about their calls. */
@Injectable()
export class ClientReports {
  constructor(
    private readonly store: TurnStore,
    private readonly turns: OpenTurns,
    private readonly resultCheck: ResultCheck,
    private readonly logger: PinoLogger,
  ) {
    logger.setContext(ClientReports.name);
  }

  /**
   * Records a step of a call; resolves after the commit. `running` is written at once, since a client then executes.
   * Other steps may wait briefly to share the write of the next one.
   */
  async status(
    client: ClientKey,
    named: ClientCall,
    status: ProgressStatus,
    note: string | null,
  ): Promise<void> {
    const turn = await this.turnOf(client, named);
    const { callId } = named;
    const input = {
      type: 'progress' as const,
      callId,
      clientId: client.clientId,
      status,
      note: note?.toWellFormed() ?? null,
    };
    accept(await this.turns.submit(turn, input, status !== 'running'));
  }

  /** Records the end of a call; resolves after the commit. True if the same report came before. */
  async result(client: ClientKey, named: ClientCall, claimed: Outcome): Promise<boolean> {
    const turn = await this.turnOf(client, named);
    const call = callOf(turn, named.callId)!;
    const report = await this.resultCheck.check(turn, call, claimed);
    const { callId } = named;
    const answer = await this.turns.submit(turn, {
      type: 'report',
      callId,
      clientId: client.clientId,
      report,
    });
    accept(answer);
    return answer.ok && answer.duplicate === true;
  }

  /**
   * Reconciles a returning client's journal with the stored turns. Every callId of the journal is in one of the two
   * lists; calls missing in the journal become pending again.
   */
  async resume(client: ClientKey, journal: readonly ClientEntry[]): Promise<ResumeAnswer> {
    // Duplicate entries are processed once.
    const entries = new Map(journal.map((entry) => [entry.callId, entry]));
    const turns = await this.turnsOf(client, [...entries.values()]);
    const answer: ResumeAnswer = { forget: [], resume: [] };
    const answers = turns.map((part) => this.resumeTurn(client, part));
    for (const { forget, resume } of await Promise.all(answers)) {
      answer.forget.push(...forget);
      answer.resume.push(...resume);
    }
    const answered = new Set([...answer.forget, ...answer.resume]);
    for (const callId of entries.keys()) if (!answered.has(callId)) answer.forget.push(callId);
    return answer;
  }

  /** Whether the client currently holds the call. */
  holds({ clientId }: ClientKey, callId: string): boolean {
    const call = callOf(this.turns.ofCall(callId), callId);
    return call !== undefined && isInFlight(call) && call.clientId === clientId;
  }

  /** Loads the user's open turns, so that their pending calls can be claimed. */
  takeUpPending(user: Membership): Promise<Turn[]> {
    return this.turns.takeUpOf(user);
  }

  /** The user's turns that the resume affects, with their journal entries. */
  private async turnsOf(client: ClientKey, journal: readonly ClientEntry[]): Promise<ResumedTurn[]> {
    const open = await this.turns.takeUpOf(client);
    const parts = new Map<string, ResumedTurn>(
      open.map((turn) => [turnKey(turn), { turn, entries: [] }] as const),
    );
    const ended = new Map<string, ResumedTurn>();
    for (const entry of journal) {
      await yieldIfBusy();
      const known = this.turns.ofCall(entry.callId) ?? ended.get(entry.turnId)?.turn ?? null;
      const isOf = known !== null && positionOf(known.calls, entry.callId) !== -1;
      const turn = isOf ? known : await this.store.ofCall(client.workspaceId, entry.turnId, entry.callId);
      if (turn?.workspaceId !== client.workspaceId || turn.userId !== client.userId) continue;
      const part = parts.get(turnKey(turn)) ?? { turn, entries: [] };
      parts.set(turnKey(turn), part);
      if (turn.status !== 'open') ended.set(turn.turnId, part);
      part.entries.push(entry);
    }
    return [...parts.values()].filter(({ turn, entries }) => entries.length > 0 || holdsAny(turn, client));
  }

  private async resumeTurn({ clientId }: ClientKey, { turn, entries }: ResumedTurn): Promise<ResumeAnswer> {
    const checked: ResumedCall[] = [];
    for (const entry of entries) {
      await yieldIfBusy();
      checked.push(await this.resumedCall(turn, entry));
    }
    const answer = await this.turns.submit(turn, { type: 'resume', clientId, entries: checked });
    if (!answer.ok) throw new DomainError(answer.code, answer.message);
    const { forget = [], resume = [] } = answer;
    return { forget, resume };
  }

  /**
   * A result that breaks the schema does not end its call; the client continues it. If the check itself fails, the
   * resume is refused, so that the client retries it.
   */
  private async resumedCall(turn: Turn, entry: ClientEntry): Promise<ResumedCall> {
    const { callId, state } = entry;
    if (state === 'acknowledged' || state === 'awaiting_approval' || state === 'running')
      return { callId, state };
    const call = callOf(turn, callId)!;
    try {
      return { callId, state: await this.resultCheck.check(turn, call, entry) };
    } catch (error) {
      if (!(error instanceof DomainError && error.code === 'VALIDATION_ERROR')) throw error;
      this.logger.warn({ callId }, 'A client resumed with a result that can not be taken');
      return { callId, state: 'running' };
    }
  }

  /** The turn of a client's call; NOT_FOUND also if it belongs to another user. */
  private async turnOf(client: ClientKey, { turnId, callId }: ClientCall): Promise<Turn> {
    const turn = this.turns.ofCall(callId) ?? (await this.store.ofCall(client.workspaceId, turnId, callId));
    const { workspaceId, userId } = client;
    if (turn?.workspaceId !== workspaceId || turn.userId !== userId || turn.turnId !== turnId) {
      throw new DomainError('NOT_FOUND', 'There is no such call for this client.');
    }
    return turn;
  }
}

function holdsAny(turn: Turn, { clientId }: ClientKey): boolean {
  return turn.calls.some((call) => call.clientId === clientId && call.endedAt === null);
}

function accept(answer: TurnAnswer): void {
  if (!answer.ok) throw new DomainError(answer.code, answer.message);
}
