import {
  AUDIT_FILE_EVENTS,
  AUDIT_STEPS,
  AUDIT_TURN_EVENTS,
  CALL_ERRORS,
  CREATE_FILE_ERROR_CODES,
  ERRORS,
  PATCH_FAULT_CODES,
} from '@patchbay/protocol';
import { fieldError } from '../common/domain-error.js';
import { editDistance } from '../config/edit-distance.js';

/** Events with a fixed name. */
const WHOLE_NAMES = [...Object.keys(AUDIT_TURN_EVENTS), ...Object.keys(AUDIT_FILE_EVENTS)];
const STEPS = Object.keys(AUDIT_STEPS);
const ERROR_CODES = [
  ...new Set<string>([
    ...Object.keys(CALL_ERRORS),
    ...Object.keys(ERRORS),
    ...CREATE_FILE_ERROR_CODES,
    ...PATCH_FAULT_CODES,
  ]),
];

/** Tool event names; the tool may be one of an earlier version of the server. */
const TOOL_EVENT = /^Tool\.([A-Z][A-Za-z0-9]*)\.(.*)$/;
/** Largest edit distance of a suggested name. */
const MAX_SLIP = 5;

/** VALIDATION_ERROR for an event that no trail can contain; it names the nearest event and all valid ones. */
export function requireEvent(event: string): void {
  const [, tool, step] = TOOL_EVENT.exec(event) ?? [];
  if (WHOLE_NAMES.includes(event) || (step !== undefined && STEPS.includes(step))) return;
  const known = [...WHOLE_NAMES, ...STEPS.map((one) => `Tool.${tool ?? toolIn(event)}.${one}`)];
  const all = `there are ${WHOLE_NAMES.join(', ')}, and Tool.<Tool>.<Step> with the steps ${STEPS.join(', ')}`;
  throw fieldError('event', `is not the name of an event${nearest(event, known)}; ${all}`);
}

/** Whether Patchbay itself returns this code. Clients may report others in the result of a patch. */
export function isKnownErrorCode(code: string): boolean {
  return ERROR_CODES.includes(code);
}

/** The error for a code that Patchbay does not return and no event contains. */
export function unknownErrorCode(code: string): Error {
  const hint = nearest(code, ERROR_CODES);
  return fieldError(
    'errorCode',
    `is not a known code, and no event has it${hint}; known: ${ERROR_CODES.join(', ')}`,
  );
}

/** The tool whose name differs only in case, else an example tool. */
function toolIn(event: string): string {
  const tool = event.split('.').at(event.includes('.') ? 1 : 0)!;
  return /^[a-z][A-Za-z0-9]*$/i.test(tool) ? tool[0]!.toUpperCase() + tool.slice(1) : 'CreateFile';
}

function nearest(given: string, known: readonly string[]): string {
  const wanted = given.toLowerCase();
  let limit = Math.min(MAX_SLIP, Math.ceil(wanted.length / 3));
  let best: string | null = null;
  for (const one of known) {
    const distance = editDistance(wanted, one.toLowerCase(), limit);
    if (distance === null) continue;
    best = one;
    limit = distance - 1;
    if (limit < 0) break;
  }
  return best === null ? '' : `; did you mean ${best}?`;
}
