/** What a page has in its place is slower. */
interface NodeProcess {
  getBuiltinModule?(name: string): unknown;
}

/** A module of Node where this is Node, else undefined: so that one entry is for Node and for pages. */
export function nodeModule<T>(name: `node:${string}`): T | undefined {
  const { process } = globalThis as { process?: NodeProcess };
  return process?.getBuiltinModule?.(name) as T | undefined;
}
