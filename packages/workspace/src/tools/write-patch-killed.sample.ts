import * as disk from 'node:fs/promises';
import { basename, join } from 'node:path';

import type { Journal, WriteLog } from '@patchbay/client/relay';
import type { Approval, PatchBatch, ToolCallDelivery, WritePatchResult } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { parsePatchBatch } from '@patchbay/protocol/line-patch';

import { type FileSystem } from '../disk/file-system.js';
import { errno } from '../disk/walked-folder.sample.js';
import { executeWritePatch } from '../write-patch/execute-write-patch.js';
import { toJson } from '../write-patch/write-patch-result.js';
import { death, KilledClient } from './killed-client.sample.js';
import { allow } from './tool-fixture.sample.js';
import { WritePatchTool } from './write-patch-tool.js';

/* A client that is killed during a patch batch, for tests; not part of the build. */

export const approval: Approval = { ...allow, rejectedChangeIds: ['f1c0'] };
export const NAMES = ['a', 'b', 'c', 'd'];
export const OLD = ['a\n', 'b\n', 'c\n', 'd\n'];
/** The change of b is rejected. */
export const NEW = ['a\nnew\n', 'b\n', 'c\nnew\n', 'd\nnew\n'];

function batch(): PatchBatch {
  const files = NAMES.map((name, index) => ({
    filePatchId: `f${index}`,
    docPath: `root/${name}`,
    originalSha256: sha256(`${name}\n`),
    changes: [{ changeId: `f${index}c0`, operation: 'insert', afterLine: 1, newLines: ['new'] }],
  }));
  const parsed = parsePatchBatch({ batchId: 'b', files }, { trusted: true });
  if (!parsed.ok) throw new Error('The batch is not sound.');
  return parsed.batch;
}

export const statuses = ({ files }: WritePatchResult) => files.map(({ status }) => status);

/** Four files, and the client that patches all but b. */
export class KilledPatch extends KilledClient {
  constructor() {
    super('workspace_write_patch', approval);
  }

  override async open(): Promise<void> {
    await super.open();
    await this.fresh();
  }

  readonly tool = () => new WritePatchTool(this.context, this.person);
  protected readonly execute = async (_call: ToolCallDelivery, fs: FileSystem, log: WriteLog) =>
    toJson(await executeWritePatch({ ...this.context, fs }, batch(), approval, log));

  private readonly fresh = async () => {
    await disk.rm(this.home(), { recursive: true, force: true });
    await disk.rm(this.root, { recursive: true, force: true });
    await disk.mkdir(this.root);
    for (const name of NAMES) await disk.writeFile(join(this.root, name), `${name}\n`, { mode: 0o640 });
  };
  readonly contents = () => Promise.all(NAMES.map((name) => disk.readFile(join(this.root, name), 'utf8')));
  readonly write = (name: string, text: string) => disk.writeFile(join(this.root, name), text);
  readonly delivery = () => this.deliveryOf({ arguments: {}, batch: batch() });
  readonly carryOn = async (journal: Journal) => (await this.recover(journal)) as unknown as WritePatchResult;

  /** Each moment at which a kill can leave something behind. */
  readonly atEveryMoment = async (faults: Partial<FileSystem>, check: (moment: string) => Promise<void>) => {
    let moments = 0;
    for (const doesIt of [false, true]) {
      for (let moment = 0; ; moment++) {
        await this.fresh();
        const { fs, killed, wasKilled } = this.dyingDisk(moment, doesIt, faults);
        await this.runUntilKilled(this.delivery(), fs, killed);
        if (!wasKilled()) break;
        moments++;
        await check(`${doesIt ? 'after' : 'before'} call ${moment}`);
        await this.bury();
      }
    }
    expect(moments).toBeGreaterThan(60);
  };

  /** Killed before the file of that name is renamed into place. */
  readonly killedBefore = async (name: string) => {
    const { killed, die } = death();
    const rename: FileSystem['rename'] = (from, to) => {
      if (basename(to) !== name) return this.real.rename(from, to);
      return die();
    };
    await this.runUntilKilled(this.delivery(), { ...this.real, rename }, killed);
  };
  /** Killed during a rollback, because `d` could not be written, before the original of `name` is restored. */
  readonly killedRollingBack = async (name: string) => {
    const { killed, die } = death();
    let placed = false;
    const rename: FileSystem['rename'] = (from, to) => {
      if (basename(to) === 'd') return Promise.reject(errno('EIO'));
      if (basename(to) !== name || !placed) {
        placed ||= basename(to) === name;
        return this.real.rename(from, to);
      }
      return die();
    };
    await this.runUntilKilled(this.delivery(), { ...this.real, rename }, killed);
  };
  /** Killed after all writes, before the journal has the result. */
  readonly killedBeforeResult = async () => {
    const journal = await this.started(this.delivery());
    await executeWritePatch(this.context, batch(), approval, journal.writeLog('c1'));
  };
  readonly killedAfterAll = async () => {
    const { killed, die } = death();
    const journal = await this.started(this.delivery());
    const log = journal.writeLog('c1');
    let intended = 0;
    const intend: typeof log.intend = (intents) => {
      if (++intended === 1) return log.intend(intents);
      return die();
    };
    const running = executeWritePatch({ ...this.context, fs: this.real }, batch(), approval, {
      ...log,
      intend,
    });
    await Promise.race([running, killed]);
  };
}
