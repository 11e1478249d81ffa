/** A fault that breaks an invariant. `npm run mutate` puts each into a copy of the repository and runs its specs. */
export interface Fault {
  /** What goes wrong; unique in its table. */
  name: string;
  /** The file that gets the fault, from the root: `packages/client/src/relay/call-runner.ts`. */
  file: string;
  /** Text that the file has exactly once. */
  find: string;
  /** The faulty text. It has to load; its types may be wrong. */
  replace: string;
  /** The cheapest specs that notice it, from the root, at most three; they run in this order until a test fails. */
  specs: string[];
  /** Only tests whose names match this regular expression run (`jest -t`); each of the specs has one. */
  only?: string;
  /** Whether a spec starts what is built (a server's process, the command): the fault is then put into `dist`, too. */
  build?: boolean;
}
