import { Injectable } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { Config } from '../config/config.js';
import { CloudTexts } from './cloud-texts.js';

/** Something to be made of a text. */
export interface MadeOn<T> {
  /** sha256 of the text. */
  sha256: string;
  item: T;
}

/** A text, and all that is to be made of it. */
export interface BaseText<T> {
  /** Null where the workspace does not hold it, or where it is beyond the budget. */
  bytes: Buffer | null;
  items: T[];
  isBeyondBudget: boolean;
}

/** Reads the texts that the files of a batch are patched on: each once, one after another, under a budget for them all. */
@Injectable()
export class BaseTexts {
  constructor(
    private readonly texts: CloudTexts,
    private readonly config: Config,
  ) {}

  /** The texts in the order in which they first come up. Each file that is made of a text counts against the budget. */
  async *each<T>(workspaceId: string, wanted: readonly MadeOn<T>[]): AsyncGenerator<BaseText<T>> {
    let left = this.config.maxPatchBytes;
    for (const [sha256, items] of bySha256(wanted)) {
      await yieldIfBusy();
      const bytes = left < 0 ? null : await this.texts.bytes(workspaceId, sha256);
      left -= (bytes?.length ?? 0) * items.length;
      yield { bytes: left < 0 ? null : bytes, items, isBeyondBudget: left < 0 };
    }
  }

  /** What is said of a batch whose texts are too much; `sizeBytes` where that is known. */
  tooMuch(sizeBytes?: number): DomainError {
    const have = sizeBytes === undefined ? 'more bytes than can be worked on' : `${sizeBytes} bytes`;
    const message = `The texts that the batch is made on have ${have} together; the limit is ${this.config.maxPatchBytes}.`;
    return new DomainError('TOO_LARGE', message);
  }
}

function bySha256<T>(wanted: readonly MadeOn<T>[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const { sha256, item } of wanted) {
    const items = groups.get(sha256);
    if (items === undefined) groups.set(sha256, [item]);
    else items.push(item);
  }
  return groups;
}
