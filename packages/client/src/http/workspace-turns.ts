import {
  type InvokeResult,
  type OpenTurn,
  type OpenTurnPage,
  type PostedResult,
  randomId,
  type ResultFormat,
  type ResultsRequest,
  type TurnResult,
  type TurnQuery,
  type TurnRequest,
} from '@patchbay/protocol';
import { post, type HttpRequest } from './http-transport.js';
import { WorkspaceRequests } from './workspace-requests.js';

/** How long one poll lets the server hold its answer. */
const POLL_MS = 30_000;
const FOLLOW_MS = 1_000;

/** A turn result, together with the server's warnings. */
export type TurnOutcome = TurnResult & { warnings: InvokeResult<TurnResult>['warnings'] };

/** How `getTurn` waits, and the format of the results. */
export interface TurnPollOptions extends TurnQuery {
  /** Ends the wait, not the turn. */
  signal?: AbortSignal;
}

/** How `followTurn` polls. */
export interface TurnFollowOptions {
  /** Time between two polls in ms; default 1,000. The end of the turn is reported at once. */
  everyMs?: number;
  /** Adds the ended calls as `messages` of this provider's API. */
  resultFormat?: ResultFormat | null;
  /** Ends the polling, not the turn. */
  signal?: AbortSignal;
}

/** The turns of a workspace over HTTP: what an orchestrator does. Part of every `WorkspaceClient`. */
export abstract class WorkspaceTurns extends WorkspaceRequests {
  /**
   * Posts a turn and answers once all its calls have ended, or after `waitMs` (default 30,000). A turnId is added if
   * there is none, so a retry after a network fault or a 503 runs nothing twice. An invalid call ends alone: see
   * `toolResults`. CONFLICT if the turnId belongs to a different turn, RATE_LIMITED if too many turns are open,
   * VALIDATION_ERROR with `fields` for an invalid request.
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

  /** The turn now, or for an open turn after at most `waitMs` (default 0). NOT_FOUND if it does not exist. */
  getTurn(sessionId: string, turnId: string, options: TurnPollOptions = {}): Promise<TurnOutcome> {
    const { signal, ...query } = options;
    const { waitMs } = query;
    return this.turn({ method: 'GET', path: turnPath(sessionId, turnId), query, waitMs, signal });
  }

  /**
   * Posts a turn and returns when all its calls have ended, however long a person takes. Errors as for `postTurn`.
   * Aborting `signal` ends the wait and does not cancel the turn.
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
   * The turn now, and again after each progress of a call. Ends after the turn of kind `final`.
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
      if (progressOf(next) !== progressOf(turn)) yield next;
      turn = next;
    }
  }

  /** Cancels every open call of the turn; ended calls stay as they are. NOT_FOUND if the turn does not exist. */
  cancelTurn(sessionId: string, turnId: string): Promise<TurnOutcome> {
    return this.turn({ ...post(`${turnPath(sessionId, turnId)}/cancel`), idempotent: true });
  }

  /** Cancels one call of a turn, if it is open. NOT_FOUND if the turn or the call does not exist. */
  cancelCall(sessionId: string, turnId: string, toolCallId: string): Promise<TurnOutcome> {
    const path = `${turnPath(sessionId, turnId)}/tool-calls/${encodeURIComponent(toolCallId)}/cancel`;
    return this.turn({ ...post(path), idempotent: true });
  }

  /**
   * Posts results without a socket: all are accepted or none. VALIDATION_ERROR names in `fields` what does not fit
   * the tool's responseSchema; CONFLICT if a call has already ended with another result.
   */
  postResults(sessionId: string, turnId: string, results: PostedResult[]): Promise<TurnOutcome> {
    return this.turn(post(`${turnPath(sessionId, turnId)}/results`, { results } satisfies ResultsRequest));
  }

  /**
   * The open turns of all members or of one, oldest first. FORBIDDEN if a member who is not an owner asks for turns
   * of others.
   */
  openTurns({ userId, signal }: { userId?: string; signal?: AbortSignal } = {}): AsyncGenerator<
    OpenTurn,
    void
  > {
    return this.pages({ path: '/turns', query: { userId }, signal }, (page: OpenTurnPage) => page.turns);
  }

  /** Polls a turn that was answered before its end. */
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

  /** A turn with the warnings of its answer. */
  protected async turn(request: HttpRequest): Promise<TurnOutcome> {
    const { result, warnings } = await this.send<InvokeResult<TurnResult>>(request);
    return { ...result, warnings };
  }
}

/** A key that changes when a call of the turn makes progress. */
function progressOf({ kind, toolCalls, toolResults }: TurnOutcome): string {
  const open = toolCalls.map(({ callId, status, attempt, clientId }) => [callId, status, attempt, clientId]);
  return JSON.stringify([kind, open, toolResults.map(({ callId }) => callId)]);
}

const turnsPath = (sessionId: string) => `/sessions/${encodeURIComponent(sessionId)}/turns`;
const turnPath = (sessionId: string, turnId: string) =>
  `${turnsPath(sessionId)}/${encodeURIComponent(turnId)}`;
