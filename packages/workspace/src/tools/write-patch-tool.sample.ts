import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type PatchBatch, writePatch, type WritePatchResult } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { parsePatchBatch } from '@patchbay/protocol/line-patch';
import type { ToolOutcome } from '@patchbay/client/relay';
import type { OpenBuffers } from '../write-patch/open-buffers.js';
import { deliveryOf, ToolFixture } from './tool-fixture.sample.js';
import { WritePatchTool, type WritePatchExecuted } from './write-patch-tool.js';

/* The patch tool between a user, a folder and the uploads, for tests; not part of the build. */

export const insert = (afterLine: number, line: string) => ({
  operation: 'insert',
  afterLine,
  newLines: [line],
});

export function batchOf(files: { docPath: string; original: string; changes: object[] }[]): PatchBatch {
  const input = files.map(({ docPath, original, changes }, file) => ({
    filePatchId: `f${file}`,
    docPath,
    originalSha256: sha256(original),
    fileLabel: `Why ${docPath}`,
    changes: changes.map((change, index) => ({ changeId: `f${file}c${index}`, ...change })),
  }));
  const parsed = parsePatchBatch({ batchId: 'b', files: input }, { trusted: true });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  return parsed.batch;
}

export const callOf = (callId: string, batch: PatchBatch | null) =>
  deliveryOf(callId, { name: 'workspace_write_patch', arguments: {}, batch });

export const resultOf = (outcome: ToolOutcome) => outcome.result as unknown as WritePatchResult;
export const untouched = ['a\n', 'b\n'];

/** A connected folder with the files Src/A and b, and the tool that patches them. */
export class PatchFixture extends ToolFixture {
  executed: WritePatchExecuted[] = [];

  constructor() {
    super(writePatch.responseSchema);
  }

  override async open(): Promise<void> {
    await super.open();
    this.executed = [];
    await mkdir(join(this.folder, 'Src'));
    await this.write('Src/A', 'a\n');
    await this.write('b', 'b\n');
  }

  readonly two = () =>
    batchOf([
      { docPath: `${this.root}/src/a`, original: 'a\n', changes: [insert(0, 'top'), insert(1, 'end')] },
      { docPath: `${this.root}/b`, original: 'b\n', changes: [insert(1, 'new')] },
    ]);
  readonly tool = (buffers?: OpenBuffers) =>
    new WritePatchTool({ roots: this.roots, ...(buffers && { buffers }) }, this.person, (executed) =>
      this.executed.push(executed),
    );
  readonly contents = async () => [await this.read('Src/A'), await this.read('b')];
}
