/**
 * A fault that somebody could make in a line on which nothing may be lost or done twice. `npm run mutate` sets each of
 * them into a copy of the repository, alone, and says whether the specs that it names notice it.
 */
export interface Fault {
  /** What goes wrong, as its victim would say it; once in its room. */
  name: string;
  /** The file that has the fault, from the root: `packages/client/src/relay/call-runner.ts`. */
  file: string;
  /** Text that the file has exactly once. */
  find: string;
  /** What stands there with the fault. It has to load; its types may be wrong. */
  replace: string;
  /** The cheapest specs that notice it, from the root, at most three: they run in this order until a test fails. */
  specs: string[];
  /** Only tests with this in their names run (`jest -t`, a regular expression): each of the specs has one. */
  only?: string;
  /** Whether a spec starts what is built, a server's process or the command: the fault is then in `dist`, too. */
  build?: boolean;
  /** Only where it changes nothing that anybody could see: why that is so. Such a fault is counted and not run. */
  equivalent?: string;
}
