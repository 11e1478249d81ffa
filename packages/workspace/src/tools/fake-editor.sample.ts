import { sha256 } from '@patchbay/protocol/hash';
import type { OpenBuffers } from '../write-patch/open-buffers.js';

/** An editor with unsaved texts by docPath, which can be replaced. */
export class FakeEditor implements OpenBuffers {
  /** Called before each replacement, which it may reject. */
  refuses: (docPath: string, text: string) => boolean = () => false;

  constructor(readonly texts: Map<string, string>) {}

  isDirty(docPath: string): boolean {
    return this.texts.has(docPath);
  }
  read(docPath: string): Promise<{ bytes: Buffer; isDirty: boolean } | null> {
    const text = this.texts.get(docPath);
    return Promise.resolve(text === undefined ? null : { bytes: Buffer.from(text), isDirty: true });
  }
  apply(docPath: string, expectedSha256: string, bytes: Uint8Array): Promise<boolean> {
    const text = Buffer.from(bytes).toString();
    const isAsExpected = sha256(this.texts.get(docPath) ?? '') === expectedSha256;
    if (!isAsExpected || this.refuses(docPath, text)) return Promise.resolve(false);
    this.texts.set(docPath, text);
    return Promise.resolve(true);
  }
}
