import {
  type InvokeResult,
  type OpenTurn,
  type OpenTurnPage,
  type PostedResult,
  randomId,
  type ResultFormat,
  type ResultsRequest,
  type TurnEnvelope,
  type TurnQuery,
  type TurnRequest,
} from '@patchbay/protocol';
import { post, type HttpRequest } from './http-transport.js';
import { WorkspaceRequests } from './workspace-requests.js';

/** How long one poll lets the server hold its answer. */
const POLL_MS = 30_000;
const FOLLOW_MS = 1_000;

/** The turn envelope, with what the server warns about beside it. */
export type TurnOutcome = TurnEnvelope & { warnings: InvokeResult<TurnEnvelope>['warnings'] };

/** How `getTurn` waits, and in whose form the results come. */
export interface TurnPollOptions extends TurnQuery {
  /** Ends the wait, not the turn. */
  signal?: AbortSignal;
}

/** How `followTurn` looks. */
export interface TurnFollowOptions {
  /** Time between two looks in ms; default 1,000. The end of the turn is told at once. */
  everyMs?: number;
  /** Adds the ended calls as `messages` of this provider's API. */
  resultFormat?: ResultFormat | null;
  /** Ends the looking, not the turn. */
  signal?: AbortSignal;
}

/** The turns of a workspace over HTTP: what an orchestrator does. Part of every `WorkspaceClient`. */
export abstract class WorkspaceTurns extends WorkspaceRequests {
  /**
   * Posts a turn and answers after `waitMs` (default 30,000) or once all its calls have ended, whichever is first.
   * A turnId is given if there is none, so a network fault or a 503 is retried without running anything twice.
   * What is wrong with one call ends that call alone: see `toolResults`. CONFLICT if the turnId stands for another turn,
   * RATE_LIMITED where too many turns are open, VALIDATION_ERROR with `fields` for a request that is none.
   *
   * ```ts
   * const toolCalls = [{ toolCallId: 'c1', name: 'read', arguments: { path: '/src/a.ts' } }];
   * const { kind, toolResults } = await workspace.postTurn(sessionId, { toolCalls, waitMs: 0 });
   * ```
   */
  postTurn(sessionId: string, turn: TurnRequest, signal?: AbortSignal): Promise<TurnOutcome> {
    const body = { ...turn, turnId: turn.turnId ?? randomId() };
    const waitMs = turn.waitMs ?? POLL_MS;
    return this.turn({ ...post(turnsPath(sessionId), body), idempotent: true, waitMs, signal });
  }

  /** The turn as it stands, or as it stands after at most `waitMs` (default 0) if it is open. NOT_FOUND where there is none. */
  getTurn(sessionId: string, turnId: string, options: TurnPollOptions = {}): Promise<TurnOutcome> {
    const { signal, ...query } = options;
    const { waitMs } = query;
    return this.turn({ method: 'GET', path: turnPath(sessionId, turnId), query, waitMs, signal });
  }

  /**
   * Posts a turn and returns when all its calls have ended, however long a person takes: errors are those of `postTurn`.
   * Ending the wait by `signal` does not cancel the turn.
   *
   * ```ts
   * const { toolResults } = await workspace.runTurn(sessionId, { toolCalls }, AbortSignal.timeout(60_000));
   * ```
   */
  async runTurn(sessionId: string, turn: TurnRequest, signal?: AbortSignal): Promise<TurnOutcome> {
    const posted = await this.postTurn(sessionId, turn, signal);
    return this.untilFinal({ ...posted, sessionId }, turn.resultFormat, signal);
  }

  /**
   * The turn as it stands, and again each time that a call of it has come further; ends after the one of kind `final`.
   *
   * ```ts
   * for await (const turn of workspace.followTurn(sessionId, turnId)) {
   *   console.log(turn.toolCalls.map(({ name, status }) => `${name}: ${status}`));
   * }
   * ```
   */
  async *followTurn(
    sessionId: string,
    turnId: string,
    { everyMs = FOLLOW_MS, resultFormat, signal }: TurnFollowOptions = {},
  ): AsyncGenerator<TurnOutcome, void> {
    let turn = await this.getTurn(sessionId, turnId, { resultFormat, signal });
    yield turn;
    while (turn.kind !== 'final') {
      const next = await this.getTurn(sessionId, turnId, { waitMs: everyMs, resultFormat, signal });
      if (standOf(next) !== standOf(turn)) yield next;
      turn = next;
    }
  }

  /** Ends every open call of the turn; what has ended stays as it is. NOT_FOUND where there is no such turn. */
  cancelTurn(sessionId: string, turnId: string): Promise<TurnOutcome> {
    return this.turn({ ...post(`${turnPath(sessionId, turnId)}/cancel`), idempotent: true });
  }

  /** Ends one call of a turn, if it is open. NOT_FOUND where there is no such turn or call. */
  cancelCall(sessionId: string, turnId: string, toolCallId: string): Promise<TurnOutcome> {
    const path = `${turnPath(sessionId, turnId)}/tool-calls/${encodeURIComponent(toolCallId)}/cancel`;
    return this.turn({ ...post(path), idempotent: true });
  }

  /**
   * Hands in results without a socket: all are taken or none. VALIDATION_ERROR names in `fields` what does not fit the
   * tool's responseSchema, CONFLICT a call that has ended otherwise.
   */
  postResults(sessionId: string, turnId: string, results: PostedResult[]): Promise<TurnOutcome> {
    return this.turn(post(`${turnPath(sessionId, turnId)}/results`, { results } satisfies ResultsRequest));
  }

  /** The open turns of all members or of one, oldest first. FORBIDDEN for who is no owner and asks for others' than their own. */
  openTurns({ userId, signal }: { userId?: string; signal?: AbortSignal } = {}): AsyncGenerator<
    OpenTurn,
    void
  > {
    return this.pages({ path: '/turns', query: { userId }, signal }, (page: OpenTurnPage) => page.turns);
  }

  /** Waits for the end of a turn that was answered before it. */
  protected async untilFinal(
    turn: TurnOutcome,
    resultFormat: ResultFormat | null | undefined,
    signal: AbortSignal | undefined,
  ): Promise<TurnOutcome> {
    const { sessionId, turnId } = turn;
    let now = turn;
    while (now.kind !== 'final') {
      now = await this.getTurn(sessionId, turnId, { waitMs: POLL_MS, resultFormat, signal });
    }
    return now;
  }

  /** What a turn route answers, warnings beside the envelope. */
  protected async turn(request: HttpRequest): Promise<TurnOutcome> {
    const { result, warnings } = await this.send<InvokeResult<TurnEnvelope>>(request);
    return { ...result, warnings };
  }
}

/** What of a turn is news. */
function standOf({ kind, toolCalls, toolResults }: TurnOutcome): string {
  const open = toolCalls.map(({ callId, status, attempt, clientId }) => [callId, status, attempt, clientId]);
  return JSON.stringify([kind, open, toolResults.map(({ callId }) => callId)]);
}

const turnsPath = (sessionId: string) => `/sessions/${encodeURIComponent(sessionId)}/turns`;
const turnPath = (sessionId: string, turnId: string) =>
  `${turnsPath(sessionId)}/${encodeURIComponent(turnId)}`;
