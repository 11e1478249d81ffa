import type { PatchChangeDetails, PatchFaultDetails } from '@patchbay/protocol';
import { MAX_REPORTED_BYTES } from '@patchbay/protocol/line-patch';
import { bytesOf } from '../disk/utf8.js';

/** The details of failed changes, up to a common size limit. */
export class ChangeDetails {
  private left = MAX_REPORTED_BYTES;

  /** The details of one change, without the file's lines if these exceed the limit; empty if there are none. */
  of(fault: PatchFaultDetails): { details?: PatchChangeDetails } {
    const details = known(fault);
    return Object.keys(details).length === 0
      ? {}
      : (this.fitting(details) ?? this.fitting(withoutLines(details)) ?? {});
  }

  private fitting(details: PatchChangeDetails): { details: PatchChangeDetails } | null {
    const bytes = bytesOf(JSON.stringify(details)).length;
    if (bytes > this.left) return null;
    this.left -= bytes;
    return { details };
  }
}

function known(fault: PatchFaultDetails): PatchChangeDetails {
  const { actualLines, omittedLines, firstDifference, hint, foundAt, lineCount, currentSha256 } = fault;
  const all = { actualLines, omittedLines, firstDifference, hint, foundAt, lineCount, currentSha256 };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== null));
}

function withoutLines({ actualLines = [], ...details }: PatchChangeDetails): PatchChangeDetails {
  return { ...details, omittedLines: (details.omittedLines ?? 0) + actualLines.length };
}
