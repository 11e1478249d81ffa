import type { Json, JsonObject } from '@patchbay/protocol';
import { readCloudPath } from '../files/cloud-path.js';
import type { ServerTool } from './server-tool.js';
import { faultsFrom, type SchemaFault } from './tool-schemas.js';

/**
 * What is wrong with the arguments of a server tool beyond its schema: Cloud paths that can't be, and, where they keep to
 * the schema, what the tool itself finds.
 */
export function faultsBeyondSchema(tool: ServerTool, args: Json, keepSchema: boolean): SchemaFault[] {
  const ofPaths = (tool.pathArguments ?? []).flatMap((argument) => {
    const path = (args as JsonObject | null)?.[argument];
    return typeof path === 'string' && path !== '' ? faultsFrom(() => readCloudPath(path, argument)) : [];
  });
  return keepSchema ? [...ofPaths, ...(tool.faultsOf?.(args as JsonObject) ?? [])] : ofPaths;
}
