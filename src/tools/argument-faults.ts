import type { Json, JsonObject } from '@patchbay/protocol';
import { readCloudPath } from '../files/cloud-path.js';
import type { ToolDefinition } from './tool.js';
import { faultsFrom, type SchemaFault } from './tool-schemas.js';

/** Faults beyond the schema: invalid Cloud paths of a server tool, and the tool's own checks if the schema holds. */
export function faultsBeyondSchema(tool: ToolDefinition, args: Json, keepSchema: boolean): SchemaFault[] {
  const cloudPaths = tool.contract.executionLocation === 'server' ? (tool.pathArguments ?? []) : [];
  const ofPaths = cloudPaths.flatMap((argument) => {
    const path = (args as JsonObject | null)?.[argument];
    return typeof path === 'string' && path !== '' ? faultsFrom(() => readCloudPath(path, argument)) : [];
  });
  return keepSchema ? [...ofPaths, ...(tool.faultsOf?.(args as JsonObject) ?? [])] : ofPaths;
}
