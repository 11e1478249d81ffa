import { PassThrough } from 'node:stream';
import type { Approval, ToolCallDelivery } from '@patchbay/protocol';
import type { ApprovalRequest } from '@patchbay/workspace';
import { TerminalApprover } from './terminal-approver.js';

/* A simulated person at a simulated terminal, for tests; not part of the build. */

export const request = (
  path = 'src/a.txt',
  name = 'workspace_create_file',
  sessionId = 's',
): ApprovalRequest => ({
  call: {
    callId: path,
    name,
    sessionId,
    arguments: { path, content: 'hello\n' },
  } as unknown as ToolCallDelivery,
  files: [{ path, before: null, after: 'hello\n' }],
  edit: ([text]) => ({
    files: [{ path, before: null, after: text! }],
    editedArguments: { path, content: text! },
  }),
});

export const patchRequest = (...counts: number[]): ApprovalRequest => ({
  call: { callId: 'p', name: 'workspace_write_patch', sessionId: 's' } as unknown as ToolCallDelivery,
  files: counts.map((count, file) => ({
    path: `src/${file}.txt`,
    before: 'old\n',
    after: 'new\n',
    patch: {
      label: null,
      diff: `--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n-old\n+new${file}\n`,
      changes: Array.from({ length: count }, (_, index) => ({
        ...{ changeId: `f${file}c${index}`, changeKey: null, description: `why ${file}.${index}` },
        ...{ operation: 'insert' as const, afterLine: index, newLines: [`line ${index}`] },
      })),
    },
  })),
});

/** A terminal that types `answers`, each after its prompt. */
export class Typist {
  readonly input = new PassThrough();
  readonly output = new PassThrough();
  readonly options = { by: 'ada', input: this.input, output: this.output, env: process.env };
  readonly approver = new TerminalApprover(this.options);
  screen = '';
  private unread = '';

  constructor(private readonly answers: string[]) {
    this.output.on('data', (chunk: Buffer) => {
      this.screen += chunk.toString();
      this.unread += chunk.toString();
      if (!/(> |: )$/.test(this.unread)) return;
      this.unread = '';
      const answer = this.answers.shift();
      if (answer !== undefined) setImmediate(() => this.input.write(`${answer}\n`));
    });
  }

  decide(
    asked: ApprovalRequest = request(),
    signal: AbortSignal = new AbortController().signal,
  ): Promise<Approval> {
    return this.approver.decide(asked, signal);
  }
}
