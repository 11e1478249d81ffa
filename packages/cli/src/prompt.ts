import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { CliIo } from './settings.js';

/** Asks a person; questions go to stderr, so that stdout stays a command's output. */
export async function ask(io: CliIo, question: string): Promise<string> {
  const reader = createInterface({ input: io.stdin, output: io.stderr });
  try {
    return (await reader.question(question)).trim();
  } finally {
    reader.close();
  }
}

/** Asks without showing what is typed. */
export async function askSecret(io: CliIo, question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: io.stdin, output: nowhere, terminal: true });
  io.stderr.write(question);
  try {
    return await new Promise((resolve, reject) => {
      reader.once('SIGINT', () => reject(new Error('Interrupted.')));
      void reader.question('').then(resolve, reject);
    });
  } finally {
    reader.close();
    io.stderr.write('\n');
  }
}

export async function readAll(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}
