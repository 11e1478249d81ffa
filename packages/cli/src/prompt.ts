import { createInterface, type Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { wrapFor } from './approval/fit.js';
import { CliError, EXIT } from './cli-error.js';
import type { CliIo } from './settings.js';

/** Asks a person on stderr, so that stdout has only the command's output. */
export async function ask(io: CliIo, question: string): Promise<string> {
  const reader = createInterface({ input: io.stdin, output: io.stderr });
  return (await answerOf(reader, wrapFor(io.stderr, question))).trim();
}

/** Asks without echo. */
export async function askSecret(io: CliIo, question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: io.stdin, output: nowhere, terminal: true });
  io.stderr.write(question);
  try {
    return await answerOf(reader, '');
  } finally {
    io.stderr.write('\n');
  }
}

/** @throws CliError on Ctrl-C, and if the input ends without an answer. */
async function answerOf(reader: Interface, question: string): Promise<string> {
  try {
    return await new Promise((resolve, reject) => {
      // A terminal in line mode of readline sends no signal.
      reader.once('SIGINT', () => reject(new CliError('Interrupted.', EXIT.interrupted)));
      reader.once('close', () => reject(new CliError('No answer was given.', EXIT.usage)));
      void reader.question(question).then(resolve, reject);
    });
  } finally {
    reader.close();
  }
}

export async function readAll(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}
