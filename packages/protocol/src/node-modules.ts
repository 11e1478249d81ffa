/** Browsers have slower replacements. */
interface NodeProcess {
  getBuiltinModule?(name: string): unknown;
}

/** A Node module, or undefined outside of Node, so that one entry works in Node and in browsers. */
export function nodeModule<T>(name: `node:${string}`): T | undefined {
  const { process } = globalThis as { process?: NodeProcess };
  return process?.getBuiltinModule?.(name) as T | undefined;
}
