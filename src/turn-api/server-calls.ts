import { Injectable } from '@nestjs/common';
import type { Json } from '@patchbay/protocol';
import { PinoLogger } from 'nestjs-pino';
import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { Lifecycle } from '../common/lifecycle.js';
import { persist } from '../common/persist.js';
import type { ToolContext } from '../tools/server-tool.js';
import { type ServerToolOutcome, ToolRunner } from '../tools/tool-runner.js';
import { OpenTurns } from '../turns/open-turns.js';
import { NodeId } from '../storage/ports/node-id.js';
import type { Call, Lease, Turn } from '../storage/ports/turn.js';
import type { Report } from '../turns/turn-input.js';

/** How long a node is believed to run its calls without another word from it, in ms. */
const LEASE_MS = 15_000;
/** How often it says so. */
const RENEW_MS = 5_000;

/** From now on, `now` in epoch ms, this node runs the server's calls of a turn. */
export function newLease(node: NodeId, now: number): Lease {
  return { owner: node.value, until: now + LEASE_MS };
}

/** Runs a turn's server-located calls, one after another in the LLM's order: a read after a write sees what was written. */
@Injectable()
export class ServerCalls {
  constructor(
    private readonly turns: OpenTurns,
    private readonly runner: ToolRunner,
    private readonly node: NodeId,
    private readonly lifecycle: Lifecycle,
    private readonly clock: Clock,
    private readonly logger: PinoLogger,
  ) {
    logger.setContext(ServerCalls.name);
    turns.changes$.subscribe(({ after, callArguments }) => {
      if (callArguments && after.lease?.owner === node.value) void this.runAll(after, callArguments);
    });
  }

  private async runAll(turn: Turn, callArguments: readonly Json[]): Promise<void> {
    const renewal = setInterval(() => void this.renew(turn), RENEW_MS);
    try {
      for (const [at, call] of turn.calls.entries()) {
        // It may have been cancelled since, or taken over.
        if (this.turns.ofCall(call.callId)?.calls[at]?.status !== 'executing') continue;
        await this.end(turn, call, await this.run(turn, call, callArguments[at]!));
      }
    } finally {
      clearInterval(renewal);
    }
  }

  private async renew(turn: Turn): Promise<void> {
    const lease = newLease(this.node, this.clock.now());
    await this.turns.submit(turn, { type: 'lease', lease }).catch((error: unknown) => {
      this.logger.warn({ err: error, turnId: turn.turnId }, 'A lease could not be renewed; trying again');
    });
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

function outcomeReport({ subject }: Call, { result, error }: ServerToolOutcome, executionMs: number): Report {
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
