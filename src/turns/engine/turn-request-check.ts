import { Injectable } from '@nestjs/common';
import type { Timeouts, TurnRequest } from '@patchbay/protocol';
import { digestInSlices } from '../../common/digest-in-slices.js';
import { type FieldFaults, throwIfAny } from '../../common/domain-error.js';
import { Config } from '../../config/config.js';
import type { SessionRecord } from '../../storage/records/sessions.js';
import type { Clocks } from '../../storage/ports/turn.js';
import type { PostedCall } from '../intake/tool-call-forms.js';

/** Larger arguments are read back when needed, since a call may wait for long. */
export const FEW_CHARS = 64 * 1024;

/** A posted turn, its calls read into one form. */
export type PostedTurn = Pick<TurnRequest, 'turnId' | 'timeouts' | 'waitMs'> & { toolCalls: PostedCall[] };

/** A turn whose request is valid. */
export interface CheckedRequest {
  calls: PostedCall[];
  clocks: Clocks;
  /** The timeouts that the request itself has; they win over those of a tool. */
  timeouts: Timeouts;
  /** sha256 of what identifies a request: session, calls, timeouts. */
  requestHash: string;
  /** Approximate size of the arguments as JSON, in characters. */
  chars: number;
}

/** Notes a field whose value exceeds the maximum. */
type AtMost = (field: string, value: number, maximum: number) => void;

/** Checks a posted turn against the limits and determines its deadlines. */
@Injectable()
export class TurnRequestCheck {
  constructor(private readonly config: Config) {}

  /** The request with its deadlines; VALIDATION_ERROR names every exceeded limit. */
  async check(
    session: SessionRecord,
    { toolCalls: calls, timeouts, waitMs }: PostedTurn,
  ): Promise<CheckedRequest> {
    const { maxCallsPerTurn, maxWaitMs } = this.config;
    const fields: FieldFaults = {};
    const atMost: AtMost = (field, value, maximum) => {
      if (value > maximum) fields[field] = `must not be over ${maximum}`;
    };
    if (calls.length > maxCallsPerTurn) fields.toolCalls = `must have at most ${maxCallsPerTurn} calls`;
    atMost('waitMs', waitMs ?? 0, maxWaitMs);
    const clocks = this.clocksOf(timeouts, atMost);
    throwIfAny(fields);
    const { digest, chars } = await digestInSlices([session.id, calls, timeouts ?? {}]);
    return { calls, clocks, timeouts: timeouts ?? {}, requestHash: digest, chars };
  }

  private clocksOf(timeouts: Timeouts | null | undefined, atMost: AtMost): Clocks {
    const { config } = this;
    const { deliveryMs, approvalMs, executionMs } = timeouts ?? {};
    const clocks = {
      deliveryMs: deliveryMs ?? config.deliveryMs,
      approvalMs: approvalMs ?? config.approvalMs,
      executionMs: executionMs ?? config.executionMs,
    };
    atMost('timeouts.deliveryMs', clocks.deliveryMs, config.maxDeliveryMs);
    atMost('timeouts.approvalMs', clocks.approvalMs, config.maxApprovalMs);
    atMost('timeouts.executionMs', clocks.executionMs, config.maxExecutionMs);
    return clocks;
  }
}
