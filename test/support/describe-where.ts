/** Calls `describe` where these tests can run, else `describe.skip`. */
export function describeWhere(canRun: boolean): (name: string, tests: () => void) => void {
  return (name, tests) => (canRun ? describe(name, tests) : describe.skip(name, tests));
}
