import { Injectable } from '@nestjs/common';
import { auditToolName, type CallErrorCode, type Json, type ToolCallError } from '@patchbay/protocol';
import { CatalogService } from '../catalog/catalog.service.js';
import { describeFaults, type SchemaFault } from '../catalog/tool-schemas.js';
import { Clock } from '../common/clock.js';
import { DomainError, fieldError, type FieldFaults } from '../common/domain-error.js';
import { newId } from '../common/ids.js';
import { Config } from '../config.js';
import type { SessionRecord } from '../storage/ports/sessions.store.js';
import { digestOf } from './digest.js';
import { subjectOf } from './subject.js';
import { type PostedCall, readToolCalls } from './tool-call-forms.js';
import type { Call, Clocks, Turn } from './turn.js';
import type { TurnEvent } from './turn-draft.js';
import type { PostTurnDto, TimeoutsDto } from './turns.dto.js';

/** A turn as it is accepted: sound calls pending, the others failed at once, each with the event that says so. */
export interface AcceptedTurn {
  turn: Turn;
  callArguments: Json[];
  events: TurnEvent[];
}

/** Makes a turn of a request (contract.md section 3). */
@Injectable()
export class TurnBuilder {
  constructor(
    private readonly catalog: CatalogService,
    private readonly config: Config,
    private readonly clock: Clock,
  ) {}

  /** VALIDATION_ERROR where the envelope is at fault; a call that is at fault fails alone. */
  build(session: SessionRecord, request: PostTurnDto, idempotencyKey: string | null): AcceptedTurn {
    if (request.toolCalls.length > this.config.maxCallsPerTurn) {
      throw fieldError('toolCalls', `must have at most ${this.config.maxCallsPerTurn} calls`);
    }
    const posted = readToolCalls(request.toolCalls);
    const clocks = this.clocksOf(request.timeouts);
    const now = this.clock.now();
    const calls = posted.map((call) => this.acceptCall(call, now, clocks));
    const turn: Turn = {
      workspaceId: session.workspaceId,
      sessionId: session.id,
      conversationId: session.conversationId,
      turnId: request.turnId ?? newId(),
      userId: session.userId,
      boundClientId: session.clientId,
      version: 1,
      status: calls.every(({ status }) => status === 'failed') ? 'completed' : 'open',
      acceptedAt: now,
      clocks,
      requestHash: digestOf([session.id, posted, request.timeouts ?? {}]),
      idempotencyKey,
      calls,
    };
    return { turn, callArguments: posted.map((call) => call.arguments), events: calls.flatMap(acceptance) };
  }

  private acceptCall(posted: PostedCall, now: number, clocks: Clocks): Call {
    const tool = this.catalog.find(posted.name);
    const error = tool ? this.argumentError(posted) : this.unknownTool(posted.name);
    return {
      callId: newId(),
      toolCallId: posted.toolCallId,
      name: posted.name,
      auditName: tool ? auditToolName(tool.name, tool.category) : 'Unknown',
      location: tool?.executionLocation ?? 'server',
      subject: subjectOf(posted.name, posted.arguments),
      status: error ? 'failed' : tool?.executionLocation === 'server' ? 'executing' : 'pending',
      attempt: 0,
      clientId: null,
      deliveryAt: now + clocks.deliveryMs,
      approvalAt: null,
      executionAt: null,
      releaseAt: null,
      retryAt: null,
      refusedBy: null,
      error,
      reportDigest: null,
      executionMs: null,
      endedAt: error ? now : null,
    };
  }

  private unknownTool(name: string): ToolCallError {
    const known = this.catalog.list().map((tool) => tool.name);
    const code: CallErrorCode = 'UNKNOWN_TOOL';
    return {
      code,
      message: `There is no tool "${name}". Tools: ${known.join(', ')}.`,
      details: { tools: known },
    };
  }

  private argumentError({ name, arguments: args, argumentsFault }: PostedCall): ToolCallError | null {
    const faults: SchemaFault[] = argumentsFault
      ? [{ path: '', code: 'type', message: argumentsFault }]
      : this.catalog.argumentFaults(name, args);
    if (faults.length === 0) return null;
    const code: CallErrorCode = 'INVALID_ARGUMENTS';
    const what = argumentsFault ? `arguments ${argumentsFault}` : describeFaults(faults);
    return { code, message: `The arguments of ${name} are not valid: ${what}.`, details: { faults } };
  }

  private clocksOf(timeouts: TimeoutsDto = {}): Clocks {
    const { config } = this;
    const fields: FieldFaults = {};
    const clock = (name: keyof Clocks, fallback: number, maximum: number): number => {
      const wanted = timeouts[name] ?? fallback;
      if (wanted > maximum) fields[`timeouts.${name}`] = `must not be over ${maximum}`;
      return wanted;
    };
    const clocks = {
      deliveryMs: clock('deliveryMs', config.deliveryMs, config.maxDeliveryMs),
      approvalMs: clock('approvalMs', config.approvalMs, config.maxApprovalMs),
      executionMs: clock('executionMs', config.executionMs, config.maxExecutionMs),
    };
    const [first] = Object.entries(fields);
    if (first) throw new DomainError('VALIDATION_ERROR', `${first[0]} ${first[1]}`, { fields });
    return clocks;
  }
}

function acceptance(call: Call): TurnEvent[] {
  const event = { call, clientId: null };
  if (call.error) {
    const fields = { ...call.subject, success: false, errorCode: call.error.code };
    return [{ ...event, step: 'Rejected', fields }];
  }
  const accepted: TurnEvent = { ...event, step: 'Accepted', fields: { ...call.subject } };
  return call.status === 'executing' ? [accepted, { ...event, step: 'Executing', fields: {} }] : [accepted];
}
