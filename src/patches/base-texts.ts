import { Injectable } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { Config } from '../config/config.js';
import { CloudTexts } from './cloud-texts.js';

/** An item to compute from a text. */
export interface MadeOn<T> {
  /** sha256 of the text. */
  sha256: string;
  item: T;
}

/** A text, and all items to compute from it. */
export interface BaseText<T> {
  /** Null if the workspace does not hold it, or it exceeds the budget. */
  bytes: Buffer | null;
  items: T[];
  isBeyondBudget: boolean;
}

/** Reads the base texts of a batch: each once, one after another, within one budget. */
@Injectable()
export class BaseTexts {
  constructor(
    private readonly texts: CloudTexts,
    private readonly config: Config,
  ) {}

  /** The texts in order of first use. Each file counts its text against the budget. */
  async *each<T>(workspaceId: string, wanted: readonly MadeOn<T>[]): AsyncGenerator<BaseText<T>> {
    let left = this.config.maxPatchBytes;
    for (const [sha256, items] of bySha256(wanted)) {
      await yieldIfBusy();
      const bytes = left < 0 ? null : await this.texts.bytes(workspaceId, sha256);
      left -= (bytes?.length ?? 0) * items.length;
      yield { bytes: left < 0 ? null : bytes, items, isBeyondBudget: left < 0 };
    }
  }

  /** The error for a batch whose texts exceed the budget; `sizeBytes` if known. */
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
