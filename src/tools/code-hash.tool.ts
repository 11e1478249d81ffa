import { Injectable } from '@nestjs/common';
import { codeHash, type JsonObject, normalizeText } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { fieldError } from '../common/domain-error.js';
import { readCloudPath } from '../files/cloud-path.js';
import { textOf } from '../files/content-shape.js';
import { FilesService } from '../files/files.service.js';
import type { ServerTool, ToolContext } from './server-tool.js';
import type { SchemaFault } from './tool-schemas.js';

@Injectable()
export class CodeHashTool implements ServerTool {
  readonly contract = codeHash;
  readonly pathArguments = ['docPath'];

  constructor(private readonly files: FilesService) {}

  /** Exactly one of the two, and a text that UTF-8 can say. */
  faultsOf({ content, docPath }: JsonObject): SchemaFault[] {
    const fault = (name: string, message: string): SchemaFault[] => [
      { path: `/${name}`, code: 'content', message },
    ];
    if (typeof content === 'string' && typeof docPath === 'string')
      return fault('docPath', 'is beside content; give one of them');
    if (typeof content !== 'string' && typeof docPath !== 'string')
      return fault('content', 'is required, or docPath');
    return typeof content === 'string' && !content.isWellFormed()
      ? fault('content', 'holds a lone surrogate')
      : [];
  }

  /** The content hash of TUL-004. */
  async execute({ content, docPath }: JsonObject, { workspaceId }: ToolContext): Promise<JsonObject> {
    const text = typeof content === 'string' ? content : await this.textAt(workspaceId, docPath as string);
    const normalized = normalizeText(text);
    return { hash: sha256(normalized), sizeBytes: Buffer.byteLength(normalized) };
  }

  private async textAt(workspaceId: string, docPath: string): Promise<string> {
    const { head } = await this.files.requireFile(workspaceId, readCloudPath(docPath, 'docPath'), 'docPath');
    const text = textOf(await this.files.bytesOf(workspaceId, head));
    if (text === null) throw fieldError('docPath', 'is not a text file');
    return text;
  }
}
