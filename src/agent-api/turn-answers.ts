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
import { turnResultOf, statusOf, taken } from '../turns/intake/turn-result.js';

/** An answer as it goes out: its JSON, and the HTTP status that says whether the turn is final. */
export interface TurnAnswerText {
  status: number;
  body: Buffer;
}

/** What the turn routes answer. Many requests that wait for one turn share one text of it. */
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
   * The turn as it stands, with all that its calls were given and gave, for its user; RATE_LIMITED where too much of that
   * is on its way to them already.
   */
  async of(turn: Turn, sending: ResponseHandle): Promise<InvokeResult<TurnResult>> {
    this.take(turn, sending);
    return this.answer(turn, 'neutral', valueOf);
  }

  /** The same as JSON, within the same bound. */
  async textOf(
    turn: Turn,
    sending: ResponseHandle,
    format: ResultFormat = 'neutral',
  ): Promise<TurnAnswerText> {
    this.take(turn, sending);
    // All that is in an answer is in the turn's version, or never changes.
    return this.texts.of(`${turnKey(turn)} ${turn.version} ${format}`, async () =>
      // A provider's messages spell a result once more; else what is large is passed on as it is stored.
      textOf(await this.answer(turn, format, format === 'neutral' ? asStored : valueOf)),
    );
  }

  /** The turn for whoever may cancel it: without results where it is another's [MEMBER-4]. */
  async textFor(userId: string, turn: Turn, sending: ResponseHandle): Promise<TurnAnswerText> {
    const viewer = await this.viewers.of({ workspaceId: turn.workspaceId, userId }, turn.userId);
    if (viewer === 'user') return this.textOf(turn, sending);
    this.answersInFlight.reserve({ ...turn, userId }, argumentChars(turn), sending);
    const callArguments =
      seesArguments(viewer) && hasOpenCalls(turn) ? await this.store.argumentsOf(turn) : [];
    return textOf(answerFor(viewer, turn, callArguments.map(asStored)));
  }

  private take(turn: Turn, sending: ResponseHandle): void {
    const results = Math.max(0, this.config.maxTurnResultBytes - turn.resultBudget);
    this.answersInFlight.reserve(turn, results + argumentChars(turn), sending);
  }

  /** @param read what an answer has of a value of the store. */
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
    return taken(
      turn,
      turnResultOf(turn, await Promise.all(callArguments.map(async (json) => read(json))), results, format),
    );
  }
}

/** Then an answer has the arguments of them all at hand. */
function hasOpenCalls({ calls }: Turn): boolean {
  return calls.some(({ endedAt }) => endedAt === null);
}

function argumentChars(turn: Turn): number {
  return hasOpenCalls(turn) ? (turn.argumentChars ?? 0) : 0;
}

/** The text of a large value stands for it: `jsonBuffer` puts it in. */
function asStored(json: StoredJson): Json {
  return json as Json;
}

/** How the turn stands, without what came of its calls. */
function answerFor(viewer: Viewer, turn: Turn, callArguments: readonly Json[]): InvokeResult<TurnResult> {
  return taken(turn, turnResultOf(turn, callArguments, new Map(), 'neutral', viewer));
}

function textOf(answer: InvokeResult<TurnResult>): TurnAnswerText {
  return { status: statusOf(answer), body: jsonBuffer(answer) };
}
