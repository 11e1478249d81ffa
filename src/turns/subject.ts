import { cutText, type Json, MAX_PATH_CHARS } from '@patchbay/protocol';
import type { CallSubject } from '../storage/ports/turn.js';

/** What the audit events of a call say of its arguments, by tool: where it points, never what it carries. */
const SUBJECTS: { [tool: string]: (args: { [key: string]: Json }) => CallSubject } = {
  workspace_create_file: ({ path, overwrite }) => ({ path: shorten(path), overwrite: overwrite === true }),
  mv: ({ from, to }) => ({ path: shorten(to), fromPath: shorten(from) }),
};

/** The subject of a call. The arguments may break the tool's schema. */
export function subjectOf(toolName: string, args: Json): CallSubject {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return {};
  const path = args.path ?? args.docPath;
  return SUBJECTS[toolName]?.(args) ?? (typeof path === 'string' ? { path: shorten(path) } : {});
}

// eslint-disable-next-line no-control-regex -- control characters are exactly what is replaced
const CONTROLS = /[\u0000-\u001f]/g;

/** A path in a form and length that an audit event can hold, whatever it is: three bytes of JSON a character at most. */
export function shorten(path: Json | undefined): string | null {
  if (typeof path !== 'string') return null;
  return cutText(path, MAX_PATH_CHARS).replace(CONTROLS, '\uFFFD');
}
