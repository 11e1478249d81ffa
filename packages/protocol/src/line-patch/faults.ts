import {
  type FilePatch,
  type PatchChange,
  type PatchFault,
  type PatchFaultCode,
  type PatchFaultDetails,
  type PatchFaults,
} from '../patch-batch.js';

/** Limit of faults in a report; the rest are counted [PATCH-1]. */
export const MAX_REPORTED_FAULTS = 100;
/** Limit of a report in bytes of faults. */
export const MAX_REPORTED_BYTES = 256 * 1024;

/** The place of a fault; omitted fields are null in the report. */
export type FaultPlace = Partial<
  Pick<PatchFault, 'fileIndex' | 'fileKey' | 'docPath' | 'changeIndex' | 'changeKey'>
>;

/** Reports a fault. Text and details are created only if the fault is shown. */
export type ReportFault = (
  code: PatchFaultCode,
  message: () => string,
  details?: () => PatchFaultDetails,
) => void;

/** Collects faults in bounded memory: a list of a million broken changes costs a counter, not a million messages. */
export class FaultList {
  private readonly shown: PatchFault[] = [];
  private bytes = 0;
  private total = 0;

  /** `countsOnly`: counts faults without showing any. */
  constructor(private readonly countsOnly = false) {}

  /** A list for one pass, to be merged by `absorb`. It only counts if this list can show no more. */
  ofPass(): FaultList {
    return new FaultList(this.isFull());
  }

  /** Number of reported faults, shown or not. */
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
    if (this.isFull()) return;
    const {
      fileIndex = null,
      fileKey = null,
      docPath = null,
      changeIndex = null,
      changeKey = null,
    } = typeof place === 'function' ? place() : place;
    const where = { fileIndex, fileKey, docPath, changeIndex, changeKey };
    this.show({ ...where, code, message: message(), ...details?.() });
  }

  /** Merges the faults of several passes over one file, in the order of its changes. */
  absorb(...lists: FaultList[]): void {
    const faults = lists.flatMap((list) => list.shown);
    faults.sort((a, b) => (a.changeIndex ?? -1) - (b.changeIndex ?? -1));
    for (const fault of faults) this.show(fault);
    this.total += lists.reduce((sum, list) => sum + list.total, 0);
  }

  /** Appends faults that were found elsewhere. */
  append({ faults, moreFaults }: PatchFaults): void {
    for (const fault of faults) this.show(fault);
    this.total += faults.length + moreFaults;
  }

  result(): PatchFaults {
    return { faults: this.shown, moreFaults: this.total - this.shown.length };
  }

  private isFull(): boolean {
    const { length } = this.shown;
    return this.countsOnly || length >= MAX_REPORTED_FAULTS || this.bytes >= MAX_REPORTED_BYTES;
  }

  /** Shows a fault if it fits, if necessary without the file's lines. */
  private show(fault: PatchFault): void {
    if (this.isFull()) return;
    const whole = sizeOf(fault);
    const fits = this.shown.length === 0 || this.bytes + whole <= MAX_REPORTED_BYTES;
    const shown = fits ? fault : withoutLines(fault);
    const size = fits ? whole : sizeOf(shown);
    if (!fits && this.bytes + size > MAX_REPORTED_BYTES) {
      // Later faults must not be shown either: the shown faults are the first ones.
      this.bytes = MAX_REPORTED_BYTES;
      return;
    }
    this.shown.push(shown);
    this.bytes += size;
  }
}

/** Size of a fault in an answer, in bytes. */
function sizeOf(fault: PatchFault): number {
  return new TextEncoder().encode(JSON.stringify(fault)).length;
}

/** The fault without the file's lines, and the number of these. */
function withoutLines({ actualLines = [], ...fault }: PatchFault): PatchFault {
  if (actualLines.length === 0) return fault;
  return { ...fault, actualLines: [], omittedLines: (fault.omittedLines ?? 0) + actualLines.length };
}

/** The place of a change, or without one that of the whole file patch. */
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

/** A reporter for a fixed place. */
export const reportAt =
  (faults: FaultList, place: FaultPlace | (() => FaultPlace)): ReportFault =>
  (code, message, details) =>
    faults.add(place, code, message, details);
