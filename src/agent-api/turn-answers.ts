import { Injectable } from '@nestjs/common';
import type { InvokeResult, Json, ResultFormat, TurnResult } from '@patchbay/protocol';
import { Viewers } from '../access/viewers.js';
import { seesArguments, type Viewer } from '../access/visible-call.js';
import { jsonBuffer, valueOf } from '../common/json-text.js';
import { turnKey } from '../common/keys.js';
import { Config } from '../config/config.js';
import type { Turn } from '../storage/ports/turn.js';
import { type StoredJson, type StoredResult, TurnStore } from '../storage/ports/turns.store.js';
import type { ResponseHandle } from '../common/http/response-closed.js';
import { AnswersInFlight } from '../limits/answers-in-flight.js';
import { ResponseCache } from './response-cache.js';
import { turnResultOf, statusOf, turnAnswer } from '../turns/intake/turn-result.js';

/** A response body: its JSON, and the HTTP status that says whether the turn is final. */
export interface TurnAnswerText {
  status: number;
  body: Buffer;
}

/** Answers of the turn routes. Requests that wait for the same turn share one body. */
@Injectable()
export class TurnAnswers {
  private readonly texts = new ResponseCache<TurnAnswerText>();

  constructor(
    private readonly store: TurnStore,
    private readonly answersInFlight: AnswersInFlight,
    private readonly viewers: Viewers,
    private readonly config: Config,
  ) {}

  /**
   * The turn with the arguments and results of its calls, for its user. RATE_LIMITED if too many bytes of answers are
   * already in flight.
   */
  async of(turn: Turn, response: ResponseHandle): Promise<InvokeResult<TurnResult>> {
    this.reserveBytes(turn, response);
    return this.answer(turn, 'neutral', valueOf);
  }

  /** The same as JSON, with the same limit. */
  async textOf(
    turn: Turn,
    response: ResponseHandle,
    format: ResultFormat = 'neutral',
  ): Promise<TurnAnswerText> {
    this.reserveBytes(turn, response);
    // An answer depends only on the turn's version and on data that never changes.
    return this.texts.of(`${turnKey(turn)} ${turn.version} ${format}`, async () =>
      // A provider format repeats results as text; otherwise large values are sent as stored.
      textOf(await this.answer(turn, format, format === 'neutral' ? asStored : valueOf)),
    );
  }

  /** The turn for a user who may cancel it, without results if the turn belongs to somebody else [MEMBER-4]. */
  async textFor(userId: string, turn: Turn, response: ResponseHandle): Promise<TurnAnswerText> {
    const viewer = await this.viewers.of({ workspaceId: turn.workspaceId, userId }, turn.userId);
    if (viewer === 'user') return this.textOf(turn, response);
    this.answersInFlight.take({ ...turn, userId }, argumentChars(turn), response);
    const callArguments =
      seesArguments(viewer) && hasOpenCalls(turn) ? await this.store.argumentsOf(turn) : [];
    return textOf(answerFor(viewer, turn, callArguments.map(asStored)));
  }

  private reserveBytes(turn: Turn, response: ResponseHandle): void {
    const results = Math.max(0, this.config.maxTurnResultBytes - turn.resultBudget);
    this.answersInFlight.take(turn, results + argumentChars(turn), response);
  }

  /** @param read reads a stored value for the answer */
  private async answer(
    turn: Turn,
    format: ResultFormat,
    read: (json: StoredJson) => Json | Promise<Json>,
  ): Promise<InvokeResult<TurnResult>> {
    const callArguments = hasOpenCalls(turn) ? await this.store.argumentsOf(turn) : [];
    const stored = await this.store.resultsOf(turn);
    const results = new Map<string, StoredResult>();
    for (const [callId, ended] of stored)
      results.set(callId, { result: await read(ended.result), details: await read(ended.details) });
    return turnAnswer(
      turn,
      turnResultOf(turn, await Promise.all(callArguments.map(async (json) => read(json))), results, format),
    );
  }
}

/** Whether a call is open: the answer then contains the arguments of all calls. */
function hasOpenCalls({ calls }: Turn): boolean {
  return calls.some(({ endedAt }) => endedAt === null);
}

function argumentChars(turn: Turn): number {
  return hasOpenCalls(turn) ? (turn.argumentChars ?? 0) : 0;
}

/** Placeholder for a large stored value, which `jsonBuffer` inserts as text. */
function asStored(json: StoredJson): Json {
  return json as Json;
}

/** The state of the turn without the results of its calls. */
function answerFor(viewer: Viewer, turn: Turn, callArguments: readonly Json[]): InvokeResult<TurnResult> {
  return turnAnswer(turn, turnResultOf(turn, callArguments, new Map(), 'neutral', viewer));
}

function textOf(answer: InvokeResult<TurnResult>): TurnAnswerText {
  return { status: statusOf(answer), body: jsonBuffer(answer) };
}
