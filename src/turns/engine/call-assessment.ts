import { Injectable } from '@nestjs/common';
import type { CallErrorCode, JsonCount, ToolCallError } from '@patchbay/protocol';
import { auditPath } from '../../common/audit-path.js';
import type { UserFolders } from '../../clients/user-folders.js';
import type { PatchOrigin } from '../../patches/patch-preparation.js';
import type { CallSubject } from '../../storage/ports/turn.js';
import { BuiltInTools } from '../../tools/built-in-tools.js';
import { subjectOf } from '../../tools/call-subject.js';
import type { Tool } from '../../tools/catalog/tool.js';
import type { Toolset } from '../../tools/catalog/toolset.js';
import { diskChange } from '../../tools/disk-change.js';
import type { PreparedCall } from '../../tools/tool.js';
import { argumentError, parsedWarnings, unreadable } from '../intake/call-arguments.js';
import { displayName } from '../intake/shown-name.js';
import type { PostedCall } from '../intake/tool-call-forms.js';

/** A call's tool, and the result of checking its arguments. */
export interface Assessment extends Omit<PreparedCall, 'parsed'> {
  tool: Tool | null;
  warnings: ToolCallError[];
}

/** Checks a posted call against its tool's contract and the server's state. */
@Injectable()
export class CallAssessment {
  constructor(private readonly builtIn: BuiltInTools) {}

  /** @param count counts the JSON texts of the turn */
  async assess(
    call: PostedCall,
    toolset: Toolset,
    origin: PatchOrigin,
    count: JsonCount,
  ): Promise<Assessment> {
    const { name } = call;
    const tool = toolset.find(name);
    const { parsed, ...prepared } =
      tool === null
        ? this.ofUnknownTool(call, toolset)
        : call.argumentsFault !== null
          ? failed(call, unreadable(name, call.argumentsFault), {})
          : tool.definition.prepare
            ? await tool.definition.prepare(call.arguments, origin, count)
            : await prepare(tool, call, origin, count);
    return { tool, ...prepared, warnings: parsedWarnings(name, parsed) };
  }

  /** A tool outside the session's choice is unknown to it; the audit trail still records the places of such a call. */
  private ofUnknownTool(call: PostedCall, toolset: Toolset): PreparedCall {
    const subject = subjectOf(this.builtIn.find(call.name), call.arguments);
    return failed(call, unknownTool(call.name, toolset), subject);
  }
}

function failed({ arguments: args }: PostedCall, error: ToolCallError, subject: CallSubject): PreparedCall {
  return { args, parsed: [], error, batch: null, roots: [], subject };
}

/** The default preparation of a call. */
async function prepare(
  tool: Tool,
  call: PostedCall,
  origin: PatchOrigin,
  count: JsonCount,
): Promise<PreparedCall> {
  const { name, arguments: given, checked } = call;
  const { args, faults, parsed } = checked
    ? { args: given, faults: [], parsed: [] }
    : await tool.readArguments(given, count);
  const error = checked ? null : (argumentError(name, faults) ?? diskChange(tool.definition, args, origin));
  const paths = tool.clientPathsIn(args);
  const roots = origin.folders.namedBy(paths);
  const place = roots.length === 0 ? docPathOf(paths, origin.folders) : {};
  return { args, parsed, error, batch: null, roots, subject: { ...tool.subjectOf(args), ...place } };
}

/** A path on the user's machine may omit the folder name if there is only one folder. */
function docPathOf([path, ...others]: readonly string[], { sole }: UserFolders): { docPath?: string } {
  if (path === undefined || others.length > 0 || sole === null) return {};
  return { docPath: `${sole}/${auditPath(path)}` };
}

function unknownTool(name: string, toolset: Toolset): ToolCallError {
  const { contracts } = toolset;
  const last = toolset.lastOfferOf(name);
  const known = contracts.map((contract) => contract.name);
  const code: CallErrorCode = 'UNKNOWN_TOOL';
  return {
    code,
    message: `There is no tool "${displayName(name)}".${last === null ? '' : ` ${last}`} Tools: ${known.join(', ')}.`,
    details: { tools: known },
  };
}
