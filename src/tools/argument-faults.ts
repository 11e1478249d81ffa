import type { Json, JsonObject } from '@patchbay/protocol';
import { readCloudPath } from '../files/cloud-path.js';
import type { ToolDefinition } from './tool.js';
import { faultsFrom, type SchemaFault } from './tool-schemas.js';

/**
 * What is wrong with arguments beyond their schema: of a server tool Cloud paths that can't be, and, where they keep to
 * the schema, what the tool itself finds.
 */
export function faultsBeyondSchema(tool: ToolDefinition, args: Json, keepSchema: boolean): SchemaFault[] {
  const cloudPaths = tool.contract.executionLocation === 'server' ? (tool.pathArguments ?? []) : [];
  const ofPaths = cloudPaths.flatMap((argument) => {
    const path = (args as JsonObject | null)?.[argument];
    return typeof path === 'string' && path !== '' ? faultsFrom(() => readCloudPath(path, argument)) : [];
  });
  return keepSchema ? [...ofPaths, ...(tool.faultsOf?.(args as JsonObject) ?? [])] : ofPaths;
}
