import { Injectable } from '@nestjs/common';
import {
  type CallErrorCode,
  type Json,
  type JsonCount,
  type ToolCallError,
  writePatch,
} from '@patchbay/protocol';
import type { Tool } from '../../tools/catalog/tool.js';
import type { Toolset } from '../../tools/catalog/toolset.js';
import type { UserFolders } from '../../clients/user-folders.js';
import { type PatchOrigin, PatchPreparation, type PreparedBatch } from '../../patches/patch-preparation.js';
import type { PatchBatchRecord } from '../../storage/ports/patches.store.js';
import { diskChange } from '../../tools/disk-change.js';
import { parseTexts } from '../../tools/parsed-texts.js';
import { argumentError, parsedWarnings, readArguments, unreadable } from '../intake/call-arguments.js';
import { placeOf } from './call-subjects.js';
import { shownName } from '../intake/shown-name.js';
import type { PostedCall } from '../intake/tool-call-forms.js';

/** A call's tool, and what its arguments turned out to be. */
export interface Assessment {
  tool: Tool | null;
  /** As they are kept. */
  args: Json;
  error: ToolCallError | null;
  warnings: ToolCallError[];
  batch: PatchBatchRecord | null;
  /** docPaths of the folders that it names. */
  roots: string[];
  /** Where a path is that names no folder. */
  place: { docPath?: string };
}

/** Holds a posted call against its tool's contract, and a patch against what the server knows of its files. */
@Injectable()
export class CallAssessment {
  constructor(private readonly patches: PatchPreparation) {}

  /** @param count of the JSON texts that are parsed for the turn */
  async assess(
    call: PostedCall,
    toolset: Toolset,
    origin: PatchOrigin,
    count: JsonCount,
  ): Promise<Assessment> {
    const { name } = call;
    const tool = toolset.find(name);
    const none = { args: call.arguments, warnings: [], batch: null, roots: [], place: {} };
    if (!tool) return { tool, error: unknownTool(name, toolset), ...none };
    if (name === writePatch.name && call.argumentsFault === null) {
      return this.assessPatch(call, tool, origin, count);
    }
    if (call.checked)
      return { tool, error: null, ...none, roots: origin.folders.namedBy(name, call.arguments, null) };
    if (call.argumentsFault !== null) return { tool, error: unreadable(name, call.argumentsFault), ...none };
    const { args, faults, parsed } = readArguments(tool, call.arguments, count);
    const error = argumentError(name, faults) ?? diskChange(tool.contract, args, origin);
    const roots = origin.folders.namedBy(name, args, null);
    const place = roots.length === 0 ? placeOf(name, args, origin.folders) : {};
    return { tool, args, error, warnings: parsedWarnings(name, parsed), batch: null, roots, place };
  }

  private async assessPatch(
    call: PostedCall,
    tool: Tool,
    origin: PatchOrigin,
    count: JsonCount,
  ): Promise<Assessment> {
    let args = call.arguments;
    let parsed: string[] = [];
    let prepared: PreparedBatch = await this.patches.prepare(args, origin);
    if (prepared.record === null) {
      const texts = parseTexts(tool.contract.requestSchema, args, count);
      ({ args, parsed } = texts);
      if (parsed.length > 0) prepared = await this.patches.prepare(args, origin);
    }
    const { record: batch, error } = prepared;
    const roots = origin.folders.namedBy(call.name, args, batch?.batch ?? null);
    const warnings = parsedWarnings(call.name, parsed);
    return {
      tool,
      args,
      error: foldersApart(roots, origin.folders) ?? error,
      warnings,
      batch,
      roots,
      place: {},
    };
  }
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

/** A batch is written as a whole, so one client has to have all that it names [RELAY-18]. */
function foldersApart(roots: readonly string[], folders: UserFolders): ToolCallError | null {
  if (roots.length < 2 || folders.someHas(roots)) return null;
  const code: CallErrorCode = 'INVALID_ARGUMENTS';
  const names = roots.map((docPath) => `\`${docPath}\``).join(', ');
  const message = `No client has the folders ${names} together. Send one batch per folder.`;
  return { code, message, details: { roots: [...roots] } };
}
