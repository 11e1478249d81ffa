import { createFile, type CreateFileResult, type JsonObject } from '@patchbay/protocol';
import type { ToolOutcome } from '@patchbay/client/relay';
import type { OpenBuffers } from '../write-patch/open-buffers.js';
import type { PatchContext } from '../write-patch/execute-write-patch.js';
import { CreateFileTool, type CreateFileExecuted } from './create-file-tool.js';
import { deliveryOf, ToolFixture } from './tool-fixture.sample.js';

/* The create tool between a user, a folder and the uploads, for tests; not part of the build. */

export const createOf = (callId: string, args: JsonObject) =>
  deliveryOf(callId, { name: 'workspace_create_file', arguments: args });
export const resultOf = (outcome: ToolOutcome) => outcome.result as unknown as CreateFileResult;

export class CreateFixture extends ToolFixture {
  executed: CreateFileExecuted[] = [];
  warnings: string[] = [];
  /** Added to the context of each tool. */
  more: Partial<PatchContext> = {};

  constructor() {
    super(createFile.responseSchema);
  }

  override async open(): Promise<void> {
    await super.open();
    [this.executed, this.warnings, this.more] = [[], [], {}];
  }

  readonly tool = (buffers?: OpenBuffers) =>
    new CreateFileTool(
      { roots: this.roots, ...(buffers && { buffers }), ...this.more },
      this.person,
      (executed) => this.executed.push(executed),
      (warning) => this.warnings.push(warning),
    );
}
