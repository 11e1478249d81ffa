/**
 * Like `describe` where these tests can run, else like `describe.skip`. Jest's own are asked for when a file calls it: the
 * files of a worker share this module, and each has a Jest of its own.
 */
export function describeWhere(canRun: boolean): (name: string, tests: () => void) => void {
  return (name, tests) => (canRun ? describe(name, tests) : describe.skip(name, tests));
}
