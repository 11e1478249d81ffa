import { type PatchChange } from '../patch-batch.js';
import { type FaultList, type FaultPlace, reportAt } from './faults.js';
import {
  changesNothing,
  checkFirstLine,
  checkOrder,
  checkOverlap,
  inFileOrder,
  type PlacedChange,
} from './layout.js';
import { parseChange } from './parse-change.js';
import { describeForm, isObject, type PlainObject, MAX_KEY_CHARS, own, ownText } from './shape.js';

/**
 * Reads `changes` of a file patch and reports all faults of the list: shape, order, overlap [LINE-3].
 * @param place the file patch, for the faults.
 * @returns the changes; only usable if no fault was reported.
 */
export function parseChanges(
  object: PlainObject,
  place: FaultPlace,
  trusted: boolean,
  faults: FaultList,
): PatchChange[] {
  const value = own(object, 'changes');
  if (!Array.isArray(value) || value.length === 0) {
    reportAt(faults, place)(
      'SCHEMA',
      () =>
        `changes must be an array of one or more changes, but it is ${describeForm(value)}. Send the array.`,
    );
    return [];
  }
  const shape = faults.ofPass();
  const placed: PlacedChange[] = [];
  value.forEach((item: unknown, changeIndex) => {
    const change = parseOneChange(item, changeIndex, place, trusted, shape);
    if (change !== null) placed.push({ changeIndex, change });
  });
  const layout = checkLayout(placed, place, trusted, faults);
  const changes = placed.map(({ change }) => change);
  if (shape.count === 0 && layout.count === 0 && changesNothing(changes)) {
    layout.add(
      place,
      'NO_CHANGE',
      () =>
        'newLines equal expectedOriginalLines in every change, so the file would stay as it is. ' +
        'Leave the file out, or send the lines you mean.',
    );
  }
  faults.absorb(shape, layout);
  return changes;
}

function parseOneChange(
  item: unknown,
  changeIndex: number,
  place: FaultPlace,
  trusted: boolean,
  faults: FaultList,
): PatchChange | null {
  if (!isObject(item)) {
    faults.add(
      () => ({ ...place, changeIndex }),
      'SCHEMA',
      () => `changes[${changeIndex}] must be an object, but it is ${describeForm(item)}.`,
    );
    return null;
  }
  const at = () => ({ ...place, changeIndex, changeKey: ownText(item, 'changeKey', MAX_KEY_CHARS) });
  return parseChange(item, trusted, reportAt(faults, at));
}

function checkLayout(
  placed: PlacedChange[],
  place: FaultPlace,
  trusted: boolean,
  faults: FaultList,
): FaultList {
  const order = faults.ofPass();
  const overlap = faults.ofPass();
  const at = ({ changeIndex, change }: PlacedChange) => ({
    ...place,
    changeIndex,
    changeKey: change.changeKey,
  });
  const ordered = inFileOrder(placed);
  checkOrder(placed, order, at);
  checkOverlap(ordered, overlap, at);
  // A revert may restore a second U+FEFF behind the file's mark; the check against the text decides.
  if (!trusted) checkFirstLine(ordered, overlap, at);
  const both = faults.ofPass();
  both.absorb(order, overlap);
  return both;
}
