import { Injectable } from '@nestjs/common';
import { type JsonObject, type ToolContract, writePatch } from '@patchbay/protocol';
import { DomainError, fieldError } from '../common/domain-error.js';
import { Config } from '../config/config.js';
import { readCloudPath } from '../files/cloud-path.js';
import { FileWrites, type NewContent } from '../files/file-writes.js';
import { FilesService } from '../files/files.service.js';
import type { FileVersion } from '../storage/ports/files.store.js';
import { UserJobs } from '../jobs/user-jobs.js';
import { WorkPool } from '../jobs/work-pool.js';
import { cloudPath, COUNT, objectSchema, PATH_RULES, SHA256, TEXT, UUID } from './schema-parts.js';
import { type ServerTool, toolChange, type ToolContext } from './tool.js';
import { EDIT_TEXT } from './text-jobs.js';
import type { SchemaFault } from './tool-schemas.js';

const contract: ToolContract = {
  name: 'edit',
  description:
    'Replace one exact string in a Cloud text file. oldString must be in the file exactly once, unless replaceAll is true. ' +
    'With sha256, the edit happens only if the file is unchanged since you read it.',
  category: 'files',
  executionLocation: 'server',
  requestSchema: objectSchema(
    {
      path: cloudPath('Path of the file.'),
      oldString: {
        type: 'string',
        minLength: 1,
        description: 'The text to replace, exactly as it is in the file.',
      },
      newString: { type: 'string', description: 'The replacement; "" deletes the text.' },
      sha256: {
        type: ['string', 'null'],
        pattern: '^[0-9a-fA-F]{64}$',
        description: 'sha256 of the version that you read; the call fails with STALE if it differs.',
      },
      replaceAll: {
        type: ['boolean', 'null'],
        default: false,
        description: 'true replaces every occurrence.',
      },
    },
    ['path', 'oldString', 'newString'],
  ),
  responseSchema: objectSchema({
    path: TEXT,
    fileId: UUID,
    versionId: UUID,
    sha256: SHA256,
    sizeBytes: COUNT,
    replacements: { type: 'integer', minimum: 1 },
  }),
  guidance: `# edit

Changes a part of a Cloud text file and leaves every other byte as it is.

- Read the file first, and pass its sha256: then the edit fails if the file has changed since.
- \`oldString\` is matched exactly, spaces and line endings included. If it occurs more than once the call fails and says how often: include more surrounding lines, or replace all with \`replaceAll\`.
- For files on the user's machine use workspace_write_patch.
- ${PATH_RULES}`,
};

/** Arguments of `edit`. */
interface EditArguments {
  path: string;
  oldString: string;
  newString: string;
  sha256?: string | null;
  replaceAll?: boolean | null;
}

/** `edit`: replaces one exact string of a Cloud file. */
@Injectable()
export class EditTool implements ServerTool {
  readonly contract = contract;
  readonly order = 40;
  readonly pathArguments = ['path'];
  readonly changesCloud = {
    paths: this.pathArguments,
    instead: `call ${writePatch.name}`,
  };

  constructor(
    private readonly files: FilesService,
    private readonly writes: FileWrites,
    private readonly pool: WorkPool,
    private readonly jobs: UserJobs,
    private readonly config: Config,
  ) {}

  faultsOf(args: JsonObject): SchemaFault[] {
    const { oldString, newString } = args as unknown as EditArguments;
    if (oldString !== newString) return [];
    return [{ path: '/newString', code: 'content', message: 'is the same as oldString' }];
  }

  /** Replaces one exact string, or all with `replaceAll`, in the newest version of a text file. */
  async execute(args: JsonObject, context: ToolContext): Promise<JsonObject> {
    const wanted = args as unknown as EditArguments;
    const target = readCloudPath(wanted.path);
    let replacements = 0;
    const rewrite = () =>
      this.writes.rewrite(toolChange(this, context), target, async ({ head }) => {
        const edited = await this.edit(head, wanted, context);
        replacements = edited.count;
        return edited;
      });
    const file = await this.jobs.run(context.userId, rewrite);
    const { id: fileId, head } = file;
    return {
      ...{ path: file.path, fileId, versionId: head.id, sha256: head.sha256, sizeBytes: head.sizeBytes },
      replacements,
    };
  }

  private async edit(
    head: FileVersion,
    { sha256, oldString, newString, replaceAll }: EditArguments,
    { workspaceId, userId, signal }: ToolContext,
  ): Promise<NewContent & { count: number }> {
    if (typeof sha256 === 'string' && sha256.toLowerCase() !== head.sha256) {
      throw new DomainError('STALE', `The file has changed. Its sha256 is ${head.sha256}.`, {
        details: { currentSha256: head.sha256 },
      });
    }
    signal?.throwIfAborted();
    const bytes = await this.files.bytesOf(workspaceId, head);
    const change = { oldString, newString, replaceAll: replaceAll === true };
    const input = { bytes, shape: head.shape, change, maxBytes: this.config.maxFileBytes };
    const load = { bytes: bytes.length + oldString.length + newString.length };
    const edited = await this.pool.run(userId, EDIT_TEXT, input, load);
    if (edited === null) throw fieldError('path', 'is not a text file');
    if (edited.kind === 'refused') throw fieldError('oldString', edited.fault);
    if (edited.kind === 'too_large') throw this.writes.tooLarge(edited.sizeBytes);
    return edited;
  }
}
