import { Injectable } from '@nestjs/common';
import { createFile, type ToolContract, writePatch } from '@patchbay/protocol';
import type { SessionRecord } from '../storage/ports/sessions.store.js';
import { faultsBeyondSchema } from '../tools/argument-faults.js';
import { ToolRunner } from '../tools/tool-runner.js';
import { Tool } from './tool.js';
import { Toolset } from './toolset.js';

/** Tools that run on the user's machine. */
const CLIENT_TOOLS: readonly ToolContract[] = [createFile, writePatch];

/** Knows which tools there are for whom. */
@Injectable()
export class CatalogService {
  private readonly all: Toolset;

  constructor(runner: ToolRunner) {
    const ofServer = runner.tools.map(
      (tool) => new Tool(tool.contract, (args, keepSchema) => faultsBeyondSchema(tool, args, keepSchema)),
    );
    this.all = new Toolset([...ofServer, ...CLIENT_TOOLS.map((contract) => new Tool(contract))]);
  }

  /** The tools that a session may call; null: outside of any session. Today they are the same for all. */
  toolset(_session: SessionRecord | null): Toolset {
    return this.all;
  }
}
