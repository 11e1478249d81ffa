import { Injectable } from '@nestjs/common';
import { type Approval, type Json, type ToolCallError, wellFormedJson } from '@patchbay/protocol';
import { CatalogService } from '../../tools/catalog/catalog.service.js';
import type { Tool } from '../../tools/catalog/tool.js';
import { customFailure } from '../../tools/custom/custom-result.js';
import { describeFaults } from '../../tools/tool-schemas.js';
import { pathFields } from '../../common/audit-path.js';
import { isoTime } from '../../common/clock.js';
import { fieldError } from '../../common/domain-error.js';
import { digestOf } from '../../common/digest.js';
import { Config } from '../../config/config.js';
import { jsonBytes, withinCallBudget } from '../state/result-budget.js';
import { withoutPlaces } from '../state/subject.js';
import type { Call, CallSubject, Turn } from '../../storage/ports/turn.js';
import type { Report } from '../state/turn-input.js';

/** The reported end of a call. */
export interface Outcome {
  /** What the tool returned; null for a denial. */
  result: Json;
  executionMs?: number | null;
  approval?: Approval | null;
}

const EDITED = 'approval.editedArguments';

/** Result fields that the audit event repeats; never contents. */
const SUMMARY_FIELDS = ['docPath', 'sizeBytes', 'hash'] as const;

/** Checks a client's report against the tool's contract and derives the end of the call. */
@Injectable()
export class ResultCheck {
  constructor(
    private readonly catalog: CatalogService,
    private readonly config: Config,
  ) {}

  /**
   * The report of a call; VALIDATION_ERROR if it breaks the response schema or its own decision. An oversized result is
   * dropped and ends the call, since a retry would be as large.
   */
  async check(turn: Turn, call: Call, outcome: Outcome): Promise<Report> {
    const report = await this.reportOf(turn, call, outcome);
    // An approval has no result yet; the turn limits its edit.
    return report.status === 'approved' ? report : withinCallBudget(report, this.config.maxResultBytes);
  }

  private async reportOf(turn: Turn, call: Call, { result, ...claimed }: Outcome): Promise<Report> {
    const executionMs = claimed.executionMs ?? null;
    const approval = wellFormedNote(claimed.approval ?? null);
    if (approval) instantOf(approval);
    const tool = await this.catalog.toolOf(call, turn.userId);
    await checkEdit(tool, approval);
    await checkRejected(tool, turn, call, approval?.rejectedChangeIds ?? []);
    // Lone surrogates are repaired, since a client that cuts by UTF-16 units would send them again.
    const reported = wellFormedJson(result);
    const decided = approvalSummary(approval, tool);
    if (approval?.decision === 'deny') return denial(call, reported, executionMs, approval, decided);
    if (call.needsApproval) return decision(call, reported, executionMs, approval, decided);
    const faults = (await tool?.resultFaults(reported)) ?? [];
    if (faults.length > 0) {
      throw fieldError('result', `breaks the schema of ${call.name}: ${describeFaults(faults)}`, faults);
    }
    const edited = approval?.decision === 'edit' ? approval.editedArguments! : null;
    const {
      result: kept,
      completed,
      ...found
    } = tool?.definition.reconcile
      ? await tool.definition.reconcile(turn, call, reported, edited)
      : { result: reported, completed: reported };
    return {
      ...outcome(kept, executionMs, decided, call),
      digest: reportDigest(completed, approval),
      ...(edited !== null && { editedArguments: edited }),
      ...found,
    };
  }
}

/** Rejected ids must be parts of this call. */
async function checkRejected(
  tool: Tool | null,
  turn: Turn,
  call: Call,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const known = (await tool?.definition.partsOf?.(turn, call)) ?? new Set();
  const isOwn = ids.length <= known.size && ids.every((id) => known.has(id.toLowerCase()));
  if (isOwn && new Set(ids).size === ids.length) return;
  throw fieldError('approval.rejectedChangeIds', "must be ids of the call's own changes, each once");
}

function wellFormedNote(approval: Approval | null): Approval | null {
  return typeof approval?.note !== 'string' ? approval : { ...approval, note: approval.note.toWellFormed() };
}

/** Ids in one audit event. */
const MAX_RECORDED_IDS = 100;

/** Edited arguments come only with the decision `edit`, which needs them, and must fit the schema. */
async function checkEdit(tool: Tool | null, approval: Approval | null): Promise<void> {
  const { decision, editedArguments = null } = approval ?? {};
  if (decision !== 'edit') {
    if (editedArguments === null) return;
    throw fieldError(EDITED, 'is only for the decision edit');
  }
  if (editedArguments === null) throw fieldError(EDITED, 'is required with the decision edit');
  const faults = (await tool?.argumentFaults(editedArguments)) ?? [];
  if (faults.length > 0) throw fieldError(EDITED, `breaks the schema: ${describeFaults(faults)}`, faults);
}

function outcome(
  result: Json,
  executionMs: number | null,
  decided: CallSubject,
  call: Call,
): Omit<Report, 'digest'> {
  const facts = isObject(result) ? result : {};
  const isOurs = call.offer === undefined;
  const error = isOurs ? (facts.success === false ? failure(facts) : null) : customFailure(result);
  const failed = error !== null;
  return {
    status: failed ? 'failed' : 'succeeded',
    result,
    error,
    bytes: jsonBytes(result),
    executionMs,
    summary: {
      ...(isOurs ? actualPlace(aboutResult(call), facts.path) : {}),
      success: !failed,
      errorCode: error?.code ?? null,
      ...Object.fromEntries(
        SUMMARY_FIELDS.filter((field) => isOurs && field in facts).map((field) => [field, facts[field]!]),
      ),
      ...decided,
    },
  };
}

function failure(facts: { [key: string]: Json }): ToolCallError {
  const { errorCode, message } = typeof facts.errorCode === 'string' ? facts : (fileAtFault(facts) ?? facts);
  return {
    code: typeof errorCode === 'string' ? errorCode : 'INTERNAL_ERROR',
    message: typeof message === 'string' && message !== '' ? message : 'The tool reported failure.',
  };
}

/** A batch reports errors per file; the first one counts. */
function fileAtFault({ files }: { [key: string]: Json }): { [key: string]: Json } | null {
  const file = Array.isArray(files)
    ? files.filter(isObject).find(({ errorCode }) => typeof errorCode === 'string')
    : undefined;
  if (!file) return null;
  const message = [file.docPath, file.message].filter((part) => typeof part === 'string').join(': ');
  return { errorCode: file.errorCode!, message };
}

/** The result's `overwrite` counts, not the requested one. */
function aboutResult({ subject: { overwrite: _asked, ...about } }: Call): CallSubject {
  return about;
}

/** `proposedPath`: the requested path, if the result names another. */
function actualPlace(about: CallSubject, reported: Json | undefined): CallSubject {
  if (typeof reported !== 'string') return about;
  const actual = pathFields(reported);
  const { path: proposedPath } = about;
  if (actual.path === proposedPath) return { ...about, ...actual };
  return { ...withoutPlaces(about), ...actual, ...(typeof proposedPath === 'string' && { proposedPath }) };
}

/** A person's decision about a server call. */
function decision(
  call: Call,
  result: Json,
  executionMs: number | null,
  approval: Approval | null,
  decided: CallSubject,
): Report {
  const why = 'the server runs this call, the client says what was decided';
  if (approval === null) throw fieldError('approval', `is required: ${why}`);
  if (result !== null) throw fieldError('result', `must be null: ${why}`);
  const editedArguments = approval.decision === 'edit' ? approval.editedArguments! : undefined;
  return {
    ...{ status: 'approved', result: null, error: null, bytes: jsonBytes(editedArguments), executionMs },
    digest: reportDigest(null, approval),
    summary: { ...aboutResult(call), ...decided },
    ...(editedArguments && { editedArguments }),
  };
}

function denial(
  call: Call,
  result: Json,
  executionMs: number | null,
  approval: Approval,
  decided: CallSubject,
): Report {
  if (result !== null)
    throw fieldError('result', 'must be null with the decision deny: nothing was executed');
  const message = approval.note?.trim() ? approval.note : 'The user denied this call.';
  return {
    status: 'denied',
    result: null,
    error: { code: 'DENIED', message },
    bytes: 0,
    executionMs,
    digest: reportDigest(null, approval),
    summary: { ...aboutResult(call), success: false, errorCode: 'DENIED', ...decided },
  };
}

/** Without attempt, executionMs and decision time, which may differ when a report is repeated. */
function reportDigest(result: Json, approval: Approval | null): string {
  return digestOf([result, approval && { ...approval, at: undefined }]);
}

/** The decision time in the server's own format. */
function instantOf({ at }: Approval): string {
  const time = Date.parse(at);
  const instant = Number.isNaN(time) ? '' : isoTime(time);
  if (/^\d{4}-/.test(instant)) return instant;
  throw fieldError('approval.at', 'is not a time between the years 0 and 9999');
}

/** The decision for the audit trail; of edited arguments only their places and digest. */
function approvalSummary(approval: Approval | null, tool: Tool | null): CallSubject {
  if (!approval) return {};
  const { decision, by, note = null, rejectedChangeIds, editedArguments } = approval;
  const edited = decision === 'edit' && {
    ...tool?.subjectOf(editedArguments!),
    sha256: digestOf(editedArguments),
  };
  return {
    approval: {
      decision,
      by,
      at: instantOf(approval),
      note,
      ...(rejectedChangeIds && {
        rejectedChanges: rejectedChangeIds.length,
        rejectedChangeIds: rejectedChangeIds.slice(0, MAX_RECORDED_IDS),
      }),
      ...(edited && { edited }),
    },
  };
}

function isObject(value: Json): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
