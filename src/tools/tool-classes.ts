import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Type } from '@nestjs/common';
import type { ToolDefinition } from './tool.js';

/** `.js` once built, `.ts` where the sources run as they are. */
const TOOL_FILE = /\.tool\.[jt]s$/;

/**
 * The tools: of each `*.tool` file of this folder the class that it exports. So adding a tool is adding its file,
 * and there is no list to keep.
 */
export async function findToolClasses(): Promise<Type<ToolDefinition>[]> {
  const files = (await readdir(import.meta.dirname)).filter((name) => TOOL_FILE.test(name)).sort();
  const tools: Type<ToolDefinition>[] = [];
  // One after another: Jest mixes up modules that are linked at the same time.
  for (const file of files) tools.push(await toolClassIn(file));
  return tools;
}

async function toolClassIn(file: string): Promise<Type<ToolDefinition>> {
  const { href } = pathToFileURL(join(import.meta.dirname, file));
  const [tool, ...others] = Object.values((await import(href)) as Record<string, unknown>);
  if (typeof tool === 'function' && others.length === 0) return tool as Type<ToolDefinition>;
  throw new Error(`src/tools/${file} must export one class, the tool, and nothing else.`);
}
