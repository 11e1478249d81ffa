import { surviveBrokenPipes } from './broken-pipe.js';
import { EXIT } from './cli-error.js';
import { exitOnInterrupt } from './interrupts.js';
import { runCli } from './program.js';

/** The process: one command line, its exit code, and no wait for what is left. */
async function main(): Promise<void> {
  // A wait that ends by nothing but an idle process has not done what it was to do.
  process.exitCode = EXIT.failed;
  exitOnInterrupt();
  surviveBrokenPipes([process.stdout, process.stderr]);
  const exitCode = await runCli(process.argv.slice(2), process);
  // What is left are timers of fetch, which hold an idle process for half a second.
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((resolve) => stream.write('', () => resolve()));
  }
  process.exit(exitCode);
}

void main();
