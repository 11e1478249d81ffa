import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Type } from '@nestjs/common';
import type { ToolDefinition } from './tool.js';

/** `.js` in a build, `.ts` when sources run directly. */
const TOOL_FILE = /\.tool\.[jt]s$/;

/** Loads the class of each `*.tool` file in this directory, so adding a tool needs no registration. */
export async function findToolClasses(): Promise<Type<ToolDefinition>[]> {
  const files = (await readdir(import.meta.dirname)).filter((name) => TOOL_FILE.test(name)).sort();
  const tools: Type<ToolDefinition>[] = [];
  // Sequential, since Jest mixes up modules that are linked in parallel.
  for (const file of files) tools.push(await toolClassIn(file));
  return tools;
}

async function toolClassIn(file: string): Promise<Type<ToolDefinition>> {
  const { href } = pathToFileURL(join(import.meta.dirname, file));
  const [tool, ...others] = Object.values((await import(href)) as Record<string, unknown>);
  if (typeof tool === 'function' && others.length === 0) return tool as Type<ToolDefinition>;
  throw new Error(`src/tools/${file} must export one class, the tool, and nothing else.`);
}
