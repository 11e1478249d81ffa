import { Injectable } from '@nestjs/common';
import type { Json } from '@patchbay/protocol';
import { PinoLogger } from 'nestjs-pino';
import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { Lifecycle } from '../common/lifecycle.js';
import { persist } from '../common/persist.js';
import type { ToolContext } from '../tools/server-tool.js';
import { type ToolOutcome, ToolRunner } from '../tools/tool-runner.js';
import { OpenTurns } from '../turns/open-turns.js';
import type { Call, Turn } from '../storage/ports/turn.js';
import type { Report } from '../turns/turn-state.js';

/** Runs a turn's server-located calls, one after another in the LLM's order: a read after a write sees what was written. */
@Injectable()
export class ServerCalls {
  constructor(
    private readonly turns: OpenTurns,
    private readonly runner: ToolRunner,
    private readonly lifecycle: Lifecycle,
    private readonly clock: Clock,
    private readonly logger: PinoLogger,
  ) {
    logger.setContext(ServerCalls.name);
  }

  /** Starts the calls of a turn that was just accepted; `callArguments` are in the order of its calls. */
  start(turn: Turn, callArguments: readonly Json[]): void {
    if (turn.calls.some(({ status }) => status === 'executing')) void this.runAll(turn, callArguments);
  }

  /** Ends calls that an earlier process began: whether they took effect is not known, so they are not run again. */
  async endInterrupted(turn: Turn): Promise<void> {
    const interrupted = turn.calls.filter(({ status }) => status === 'executing');
    const message =
      'The server stopped while this call ran. Look whether it took effect before you call again.';
    await Promise.all(
      interrupted.map((call) => this.end(turn, call, failure(call, 'INTERNAL_ERROR', message))),
    );
  }

  private async runAll(turn: Turn, callArguments: readonly Json[]): Promise<void> {
    for (const [at, call] of turn.calls.entries()) {
      if (call.status !== 'executing') continue;
      const cancelled = this.turns.ofCall(call.callId)?.calls[at]?.status !== 'executing';
      if (!cancelled) await this.end(turn, call, await this.run(turn, call, callArguments[at]!));
    }
  }

  private async run(turn: Turn, call: Call, args: Json): Promise<Report> {
    const began = this.clock.now();
    try {
      const outcome = await this.runner.run(call.name, args, contextOf(turn, call));
      return outcomeReport(call, outcome, this.clock.now() - began);
    } catch (error) {
      if (error instanceof DomainError) return failure(call, error.code, error.message, detailsOf(error));
      this.logger.error({ err: error, callId: call.callId, tool: call.name }, 'A server tool failed');
      return failure(
        call,
        'INTERNAL_ERROR',
        'The tool failed on the server. Its operator finds the cause in the log.',
      );
    }
  }

  /** A call that has run must end, even if the store can't take it at the moment. */
  private async end(turn: Turn, { callId }: Call, report: Report): Promise<void> {
    const record = () => this.turns.submit(turn, { type: 'executed', callId, report });
    await persist(record, this.lifecycle.stopping, (error) =>
      this.logger.error(
        { err: error, callId },
        'The end of a server tool could not be recorded; trying again',
      ),
    );
  }
}

function contextOf(
  { workspaceId, userId, sessionId, conversationId, turnId }: Turn,
  call: Call,
): ToolContext {
  const { toolCallId, callId } = call;
  return { workspaceId, userId, sessionId, conversationId, turnId, toolCallId, callId };
}

function outcomeReport({ subject }: Call, { result, error }: ToolOutcome, executionMs: number): Report {
  const status = error ? 'failed' : 'succeeded';
  const summary = { ...subject, success: !error, errorCode: error?.code ?? null };
  return { status, result, error, executionMs, digest: '', summary };
}

/** What else the model should know of a refusal: its faults by argument, the sha256 that a STALE file has now. */
function detailsOf({ extras: { fields, details } }: DomainError): Json | undefined {
  return fields ? { fields: { ...fields } } : details;
}

function failure({ subject }: Call, code: string, message: string, details?: Json): Report {
  const error = { code, message, ...(details !== undefined && { details }) };
  const summary = { ...subject, success: false, errorCode: code };
  return { status: 'failed', result: null, error, executionMs: null, digest: '', summary };
}
