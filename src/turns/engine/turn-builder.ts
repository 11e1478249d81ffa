import { Injectable } from '@nestjs/common';
import { type Json, JsonCount, type Timeouts, type ToolContract, type ToolOffer } from '@patchbay/protocol';
import { CatalogService } from '../../tools/catalog/catalog.service.js';
import type { Tool } from '../../tools/catalog/tool.js';
import type { Toolset } from '../../tools/catalog/toolset.js';
import { RootsService } from '../../clients/roots.service.js';
import { UserFolders } from '../../clients/user-folders.js';
import { Clock } from '../../common/clock.js';
import { newId } from '../../common/ids.js';
import { yieldIfBusy } from '../../common/yield-if-busy.js';
import { Config } from '../../config/config.js';
import type { PatchBatchRecord } from '../../storage/ports/patches.store.js';
import type { SessionRecord } from '../../storage/records/sessions.js';
import { type Assessment, CallAssessment } from './call-assessment.js';
import { displayName } from '../intake/shown-name.js';
import type { PostedCall } from '../intake/tool-call-forms.js';
import { type CheckedRequest, FEW_CHARS } from './turn-request-check.js';
import type { Call, CallOffer, Clocks, SessionUse, Turn } from '../../storage/ports/turn.js';
import { NodeId } from '../../storage/ports/node-id.js';
import type { CallResult } from '../../storage/ports/turns.store.js';
import { nextDueAt } from '../state/deadlines.js';
import { newLease } from '../state/lease.js';
import { jsonBytes, withoutDetails } from '../state/result-budget.js';
import { WorkspacesService } from '../../workspaces/workspaces.service.js';
import { purposeOf, statusOf as turnStatusOf, turnEnd, type TurnEvent } from '../state/turn-draft.js';

/** Turns with at most this many calls skip the queue of long work. */
const FEW_CALLS = 8;

/** Purpose of a turn beyond its calls. */
export interface TurnPurpose {
  /** The batch that the turn's patch reverts. */
  revertOf: string | null;
  /** A single call by `POST …/tools`. */
  isDirect: boolean;
}

/** What a turn is built from besides its request. */
export interface TurnOrigin extends TurnPurpose {
  turnId: string;
  /** The session's use before it. */
  use: SessionUse;
}

/** An accepted turn: valid calls pending or executing, others failed, with the events to record. */
export interface AcceptedTurn {
  turn: Turn;
  callArguments: Json[];
  /** Patch batches of its calls, to be stored first. */
  batches: PatchBatchRecord[];
  events: TurnEvent[];
  /** Error details of calls that failed at once. */
  results: CallResult[];
}

/** Effects of a call's position in workspace and turn. */
interface Position {
  /** The workspace requires approval. */
  needsApproval: boolean;
  /** A server call before it waits for a person. */
  isBlocked: boolean;
  timeouts: Timeouts;
}

/** Builds a turn from a request; an invalid call fails alone [TURN-2]. */
@Injectable()
export class TurnBuilder {
  constructor(
    private readonly catalog: CatalogService,
    private readonly assessment: CallAssessment,
    private readonly roots: RootsService,
    private readonly workspaces: WorkspacesService,
    private readonly node: NodeId,
    private readonly config: Config,
    private readonly clock: Clock,
  ) {}

  async build(
    session: SessionRecord,
    { calls: posted, clocks, timeouts, requestHash, chars }: CheckedRequest,
    { turnId, use, revertOf, isDirect }: TurnOrigin,
  ): Promise<AcceptedTurn> {
    const now = this.clock.now();
    const toolset = await this.catalog.toolsetFor(session, posted);
    const folders = await this.foldersOf(session, posted, toolset);
    const asked = await this.approvalsFor(session.workspaceId, posted, toolset);
    const calls: Call[] = [];
    const callArguments: Json[] = [];
    const count = new JsonCount();
    const batches: PatchBatchRecord[] = [];
    let isBlocked = false;
    for (const [at, call] of posted.entries()) {
      if (at >= FEW_CALLS || chars > FEW_CHARS) await yieldIfBusy();
      const callId = newId();
      const origin = { session, turnId, callId, revertOf, folders };
      const assessment = await this.assessment.assess(call, toolset, origin, count);
      // A rejected call never runs, so the store keeps nothing of it but its error.
      callArguments.push(assessment.error ? null : assessment.args);
      if (assessment.batch) batches.push(assessment.batch);
      const needsApproval = asked.has(call.name);
      const about = { ...assessment, needsApproval, isBlocked, timeouts };
      const taken = this.acceptCall(call, callId, about, now, clocks);
      isBlocked ||= taken.needsApproval === true && taken.status === 'pending';
      calls.push(taken);
    }
    const { kept: slimCalls, results, room } = await this.withDetailsApart(calls);
    const runsHere = calls.some(({ status }) => status === 'executing');
    const lease = runsHere ? newLease(this.node.value, now) : null;
    const turn: Turn = {
      workspaceId: session.workspaceId,
      sessionId: session.id,
      conversationId: session.conversationId,
      turnId,
      userId: session.userId,
      boundClientId: session.clientId,
      lastClientId: use.lastClientId,
      folder: use.folder,
      version: 1,
      status: turnStatusOf(calls),
      acceptedAt: now,
      clocks,
      requestHash,
      resultBudget: room,
      ...(chars > FEW_CHARS && { argumentChars: chars }),
      ...(isDirect && { direct: true }),
      lease,
      dueAt: nextDueAt(calls, lease),
      calls: slimCalls,
    };
    return {
      turn,
      callArguments,
      batches,
      events: insertion(turn),
      results,
    };
  }

  /** Error details are stored like results and count against the same budget. */
  private async withDetailsApart(calls: readonly Call[]) {
    const { maxResultBytes, maxTurnResultBytes } = this.config;
    let room = maxTurnResultBytes;
    const results: CallResult[] = [];
    const slimCalls = [...calls];
    for (const [at, { error, ...call }] of calls.entries()) {
      if (error?.details === undefined) continue;
      if (at >= FEW_CALLS) await yieldIfBusy();
      const { code, message, details } = error;
      const bytes = jsonBytes(details);
      const fits = bytes <= Math.min(maxResultBytes, room);
      slimCalls[at] = { ...call, error: fits ? { code, message } : withoutDetails(error) };
      if (fits) results.push({ callId: call.callId, result: null, details });
      room -= fits ? bytes : 0;
    }
    return { kept: slimCalls, results, room };
  }

  /** Read only if a call may name a folder or change its content. */
  private async foldersOf(
    { workspaceId, userId }: SessionRecord,
    calls: readonly PostedCall[],
    toolset: Toolset,
  ): Promise<UserFolders> {
    const needsFolders = calls.some(({ name }) => toolset.find(name)?.concernsFolders);
    return needsFolders ? this.roots.foldersOf({ workspaceId, userId }) : new UserFolders([], [], 0);
  }

  /** The tools among these whose calls need approval in this workspace [APPROVAL-1]. */
  private async approvalsFor(
    workspaceId: string,
    posted: readonly PostedCall[],
    toolset: Toolset,
  ): Promise<Set<string>> {
    const changing = posted.filter(({ name }) => toolset.find(name)?.definition.changesCloud);
    if (changing.length === 0) return new Set();
    const asked = new Set<string>(await this.workspaces.approvals(workspaceId));
    return new Set(changing.map(({ name }) => name).filter((name) => asked.has(name)));
  }

  private acceptCall(
    posted: PostedCall,
    callId: string,
    {
      tool,
      error,
      warnings,
      batch,
      roots,
      subject,
      needsApproval,
      isBlocked,
      timeouts,
    }: Assessment & Position,
    now: number,
    clocks: Clocks,
  ): Call {
    const contract = tool?.contract;
    return {
      callId,
      toolCallId: posted.toolCallId,
      name: contract?.name ?? displayName(posted.name),
      auditName: tool?.auditName ?? 'Unknown',
      contractDigest: tool?.digest,
      location: contract?.executionLocation ?? 'server',
      ...(tool?.offeredBy && { offer: offerOf(tool, tool.offeredBy, timeouts) }),
      subject,
      ...(roots.length > 0 && { roots }),
      batchId: batch?.batchId ?? null,
      ...(needsApproval && !error && { needsApproval: true }),
      status: error ? 'failed' : statusOf(contract!, needsApproval, isBlocked),
      attempt: 0,
      clientId: null,
      deliveryAt: now + clocks.deliveryMs,
      approvalAt: null,
      executionAt: null,
      releaseAt: null,
      retryAt: null,
      refusedBy: null,
      error,
      warnings,
      reportDigest: null,
      executionMs: null,
      endedAt: error ? now : null,
      endedBy: error ? 'server' : null,
    };
  }
}

/** The tool's own timeouts count where the turn has none. */
function offerOf({ timeouts: own }: Tool, { clientId }: ToolOffer, timeouts: Timeouts): CallOffer {
  const clocks = {
    ...(own.approvalMs && (timeouts.approvalMs ?? null) === null && { approvalMs: own.approvalMs }),
    ...(own.executionMs && (timeouts.executionMs ?? null) === null && { executionMs: own.executionMs }),
  };
  return { clientId, ...(Object.keys(clocks).length > 0 && { clocks }) };
}

function statusOf(
  { executionLocation }: ToolContract,
  needsApproval: boolean,
  isBlocked: boolean,
): Call['status'] {
  if (executionLocation === 'client' || needsApproval) return 'pending';
  return isBlocked ? 'accepted' : 'executing';
}

/** The events of a new turn, including its end if all calls failed. */
function insertion(turn: Turn): TurnEvent[] {
  const fields = { callCount: turn.calls.length, ...purposeOf(turn) };
  const accepted: TurnEvent = { step: 'Turn.Accepted', call: null, clientId: null, fields };
  const end = turn.status === 'open' ? [] : [turnEnd(turn)];
  return [accepted, ...turn.calls.flatMap(acceptance), ...end];
}

function acceptance(call: Call): TurnEvent[] {
  const event = { call, clientId: null };
  if (call.error) {
    const fields = { ...call.subject, success: false, errorCode: call.error.code };
    return [{ ...event, step: 'Rejected', fields }];
  }
  const queued = call.status === 'accepted' && { queued: true };
  const accepted: TurnEvent = { ...event, step: 'Accepted', fields: { ...call.subject, ...queued } };
  return call.status === 'executing' ? [accepted, { ...event, step: 'Executing', fields: {} }] : [accepted];
}
