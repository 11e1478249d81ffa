import { Injectable } from '@nestjs/common';
import type { JsonObject, ToolContract } from '@patchbay/protocol';
import { fieldError } from '../common/domain-error.js';
import { readCloudPath } from '../files/cloud-path.js';
import { FilesService } from '../files/files.service.js';
import { UserJobs } from '../jobs/user-jobs.js';
import { WorkPool } from '../jobs/work-pool.js';
import { cloudPath, COUNT, objectSchema, optional, SHA256 } from './schema-parts.js';
import type { ServerTool, ToolContext } from './tool.js';
import { HASH_TEXT } from './text-jobs.js';
import type { SchemaFault } from './tool-schemas.js';

const contract: ToolContract = {
  name: 'code_hash_normalized',
  description:
    'Compute the content hash of a text or of a Cloud file: sha256 of its UTF-8 bytes without byte order mark and with every line ending as \\n. ' +
    'It is the hash that workspace_create_file returns.',
  category: 'code',
  executionLocation: 'server',
  requestSchema: objectSchema(
    {
      content: { type: ['string', 'null'], description: 'The text to hash. Give this or docPath.' },
      docPath: optional(cloudPath('The Cloud file to hash. Give this or content.')),
    },
    [],
  ),
  responseSchema: objectSchema({ hash: SHA256, sizeBytes: COUNT }),
  guidance: `# code_hash_normalized

Shows whether two texts are equal apart from line endings and byte order mark. Never invent a hash.

- A patch's \`originalSha256\` is different: the sha256 of the raw bytes, as in workspace_read_file and the Active Files list. The two are equal for files with \\n endings and no byte order mark.`,
};

/** `code_hash_normalized`: the content hash of a text [CREATE-3]. */
@Injectable()
export class CodeHashTool implements ServerTool {
  readonly contract = contract;
  readonly order = 130;
  readonly pathArguments = ['docPath'];

  constructor(
    private readonly files: FilesService,
    private readonly pool: WorkPool,
    private readonly jobs: UserJobs,
  ) {}

  /** Exactly one of the two must be given. */
  faultsOf({ content, docPath }: JsonObject): SchemaFault[] {
    const fault = (name: string, message: string): SchemaFault[] => [
      { path: `/${name}`, code: 'content', message },
    ];
    if (typeof content === 'string' && typeof docPath === 'string')
      return fault('docPath', 'is beside content; give one of them');
    if (typeof content !== 'string' && typeof docPath !== 'string')
      return fault('content', 'is required, or docPath');
    return [];
  }

  async execute({ content, docPath }: JsonObject, { workspaceId, userId }: ToolContext): Promise<JsonObject> {
    if (typeof content === 'string') {
      return (await this.pool.run(userId, HASH_TEXT, content, { bytes: content.length }))!;
    }
    const target = readCloudPath(docPath as string, 'docPath');
    const { head } = await this.files.requireFile(workspaceId, target, 'docPath');
    const hashed = await this.jobs.runOn(head.sizeBytes, userId, async () => {
      const bytes = await this.files.bytesOf(workspaceId, head);
      return this.pool.run(userId, HASH_TEXT, bytes, { bytes: bytes.length });
    });
    if (hashed === null) throw fieldError('docPath', 'is not a text file');
    return hashed;
  }
}
