import { surviveBrokenPipes } from './broken-pipe.js';
import { EXIT } from './cli-error.js';
import { exitOnInterrupt } from './interrupts.js';
import { runCli } from './program.js';

/** Runs one command line, sets the exit code, and does not wait for what is left. */
async function main(): Promise<void> {
  // If the process runs idle before the command has ended, it has failed.
  process.exitCode = EXIT.failed;
  exitOnInterrupt();
  surviveBrokenPipes([process.stdout, process.stderr]);
  const exitCode = await runCli(process.argv.slice(2), process);
  // Timers of fetch would keep an idle process alive for half a second.
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((resolve) => stream.write('', () => resolve()));
  }
  process.exit(exitCode);
}

void main();
