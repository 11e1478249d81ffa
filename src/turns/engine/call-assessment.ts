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
import { argumentError, parsedWarnings, readArguments, unreadable } from '../intake/call-arguments.js';
import { shownName } from '../intake/shown-name.js';
import type { PostedCall } from '../intake/tool-call-forms.js';

/** A call's tool, and what its arguments turned out to be. */
export interface Assessment extends Omit<PreparedCall, 'parsed'> {
  tool: Tool | null;
  warnings: ToolCallError[];
}

/** Holds a posted call against its tool's contract, and against what the server knows. */
@Injectable()
export class CallAssessment {
  constructor(private readonly builtIn: BuiltInTools) {}

  /** @param count of the JSON texts that are parsed for the turn */
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
            : prepare(tool, call, origin, count);
    return { tool, ...prepared, warnings: parsedWarnings(name, parsed) };
  }

  /** A tool of ours that the session has not chosen is unknown to it; the trail still says where such a call points. */
  private ofUnknownTool(call: PostedCall, toolset: Toolset): PreparedCall {
    const subject = subjectOf(this.builtIn.find(call.name), call.arguments);
    return failed(call, unknownTool(call.name, toolset), subject);
  }
}

function failed({ arguments: args }: PostedCall, error: ToolCallError, subject: CallSubject): PreparedCall {
  return { args, parsed: [], error, batch: null, roots: [], subject };
}

/** What a tool's arguments are held against unless it prepares its calls itself. */
function prepare(tool: Tool, call: PostedCall, origin: PatchOrigin, count: JsonCount): PreparedCall {
  const { name, arguments: given, checked } = call;
  const { args, faults, parsed } = checked
    ? { args: given, faults: [], parsed: [] }
    : readArguments(tool, given, count);
  const error = checked ? null : (argumentError(name, faults) ?? diskChange(tool.definition, args, origin));
  const paths = tool.clientPathsIn(args);
  const roots = origin.folders.namedBy(paths);
  const place = roots.length === 0 ? placeOf(paths, origin.folders) : {};
  return { args, parsed, error, batch: null, roots, subject: { ...tool.subjectOf(args), ...place } };
}

/** A path on the user's machine may leave out the name of its folder where there is one alone. */
function placeOf([path, ...others]: readonly string[], { sole }: UserFolders): { docPath?: string } {
  if (path === undefined || others.length > 0 || sole === null) return {};
  return { docPath: `${sole}/${auditPath(path)}` };
}

function unknownTool(name: string, { contracts }: Toolset): ToolCallError {
  const known = contracts.map((contract) => contract.name);
  const code: CallErrorCode = 'UNKNOWN_TOOL';
  return {
    code,
    message: `There is no tool "${shownName(name)}". Tools: ${known.join(', ')}.`,
    details: { tools: known },
  };
}
