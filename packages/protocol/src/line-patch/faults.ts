import {
  type FilePatch,
  type PatchChange,
  type PatchFault,
  type PatchFaultCode,
  type PatchFaultDetails,
  type PatchFaults,
} from '../patch-batch.js';

/** A report carries no more faults than this; the rest is counted [PATCH-1]. */
export const MAX_REPORTED_FAULTS = 100;

/** Where a fault is; what is left out is null in the report. */
export type FaultPlace = Partial<
  Pick<PatchFault, 'fileIndex' | 'fileKey' | 'docPath' | 'changeIndex' | 'changeKey'>
>;

/** Reports a fault; text and details are made only if the fault is among those shown. */
export type ReportFault = (
  code: PatchFaultCode,
  message: () => string,
  details?: () => PatchFaultDetails,
) => void;

/**
 * Collects faults with bounded memory: a list of a million broken changes costs a counter, not a million
 * messages.
 */
export class FaultList {
  private readonly shown: PatchFault[] = [];
  private total = 0;

  /** Number of faults reported so far, shown or not. */
  get count(): number {
    return this.total;
  }

  add(
    place: FaultPlace | (() => FaultPlace),
    code: PatchFaultCode,
    message: () => string,
    details?: () => PatchFaultDetails,
  ): void {
    this.total += 1;
    if (this.shown.length >= MAX_REPORTED_FAULTS) return;
    const {
      fileIndex = null,
      fileKey = null,
      docPath = null,
      changeIndex = null,
      changeKey = null,
    } = typeof place === 'function' ? place() : place;
    const where = { fileIndex, fileKey, docPath, changeIndex, changeKey };
    this.shown.push({ ...where, code, message: message(), ...details?.() });
  }

  /** Takes over the faults of several passes over one file, in the order of its changes. */
  absorb(...lists: FaultList[]): void {
    const faults = lists.flatMap((list) => list.shown);
    faults.sort((a, b) => (a.changeIndex ?? -1) - (b.changeIndex ?? -1));
    this.shown.push(...faults.slice(0, MAX_REPORTED_FAULTS - this.shown.length));
    this.total += lists.reduce((sum, list) => sum + list.total, 0);
  }

  result(): PatchFaults {
    return { faults: this.shown, moreFaults: this.total - this.shown.length };
  }
}

/** The place of a change, or with no change of the whole file patch. */
export function placeOf(
  fileIndex: number,
  patch: FilePatch,
  changeIndex?: number,
  change?: PatchChange,
): FaultPlace {
  const { fileKey, docPath } = patch;
  if (change === undefined) return { fileIndex, fileKey, docPath };
  return { fileIndex, fileKey, docPath, changeIndex, changeKey: change.changeKey };
}

/** A report that knows its place. */
export const reportAt =
  (faults: FaultList, place: FaultPlace | (() => FaultPlace)): ReportFault =>
  (code, message, details) =>
    faults.add(place, code, message, details);
