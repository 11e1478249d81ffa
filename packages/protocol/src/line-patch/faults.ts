import {
  type FilePatch,
  type PatchChange,
  type PatchFault,
  type PatchFaultCode,
  type PatchFaultDetails,
  type PatchFaults,
} from '../patch-batch.js';

/** A report carries no more faults than this, and no more bytes of them; the rest is counted [PATCH-1]. */
export const MAX_REPORTED_FAULTS = 100;
/** A report carries no more bytes of faults than this. */
export const MAX_REPORTED_BYTES = 256 * 1024;

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
  private bytes = 0;
  private total = 0;

  /** `countsOnly`: what is found is not shown, however little that is. */
  constructor(private readonly countsOnly = false) {}

  /** A list for one pass, to be absorbed by this one: it counts only where this one can show no more. */
  ofPass(): FaultList {
    return new FaultList(this.isFull());
  }

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

  /** Takes over the faults of several passes over one file, in the order of its changes. */
  absorb(...lists: FaultList[]): void {
    const faults = lists.flatMap((list) => list.shown);
    faults.sort((a, b) => (a.changeIndex ?? -1) - (b.changeIndex ?? -1));
    for (const fault of faults) this.show(fault);
    this.total += lists.reduce((sum, list) => sum + list.total, 0);
  }

  /** Takes over what was found elsewhere, behind the faults that are there already. */
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

  /** Shows a fault as far as there is room: without the file's lines where only they are too much. */
  private show(fault: PatchFault): void {
    if (this.isFull()) return;
    const whole = sizeOf(fault);
    const fits = this.shown.length === 0 || this.bytes + whole <= MAX_REPORTED_BYTES;
    const shown = fits ? fault : withoutLines(fault);
    const size = fits ? whole : sizeOf(shown);
    if (!fits && this.bytes + size > MAX_REPORTED_BYTES) {
      // What comes behind it is not shown either: the faults that are named are the first ones.
      this.bytes = MAX_REPORTED_BYTES;
      return;
    }
    this.shown.push(shown);
    this.bytes += size;
  }
}

/** Bytes of a fault in an answer. */
function sizeOf(fault: PatchFault): number {
  return new TextEncoder().encode(JSON.stringify(fault)).length;
}

/** The fault without the lines that stand in the file, and how many those are. */
function withoutLines({ actualLines = [], ...fault }: PatchFault): PatchFault {
  if (actualLines.length === 0) return fault;
  return { ...fault, actualLines: [], omittedLines: (fault.omittedLines ?? 0) + actualLines.length };
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
