import { type Json, writePatch } from '@patchbay/protocol';
import { auditPath, pathFields, pathsFields } from '../../common/audit-path.js';
import type { CallSubject } from '../../storage/ports/turn.js';

type Arguments = { [key: string]: Json };

/** What the audit events of a call say of its arguments, by tool: where it points, never what it carries. */
const SUBJECTS: { [tool: string]: (args: Arguments) => CallSubject } = {
  workspace_create_file: ({ path, overwrite }) => ({ ...pathFields(path), overwrite: overwrite === true }),
  mv: ({ from, to }) => ({
    ...pathFields(to),
    ...(typeof from === 'string' && { fromPath: auditPath(from) }),
  }),
  // Of a batch that is not even valid; another has its subject from the batch.
  [writePatch.name]: ({ files }) => (Array.isArray(files) ? pathsFields(files.map(docPathOf)) : {}),
};

/** Fields of a subject that say where it points: every event of the call has them. */
const PLACES = ['path', 'displayPath', 'docPath', 'fromPath', 'paths', 'morePaths'] as const;

/** The subject of a call. The arguments may break the tool's schema. */
export function subjectOf(toolName: string, args: Json): CallSubject {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return {};
  const path = args.path ?? args.docPath;
  return SUBJECTS[toolName]?.(args) ?? (typeof path === 'string' ? pathFields(path) : {});
}

/** Where a subject points. */
export function placesIn(subject: CallSubject): CallSubject {
  return Object.fromEntries(PLACES.flatMap((name) => (name in subject ? [[name, subject[name]!]] : [])));
}

/** A subject without where it points. */
export function withoutPlaces(subject: CallSubject): CallSubject {
  return Object.fromEntries(
    Object.entries(subject).filter(([name]) => !(PLACES as readonly string[]).includes(name)),
  );
}

function docPathOf(file: Json): Json {
  return typeof file === 'object' && file !== null && !Array.isArray(file) ? (file.docPath ?? null) : null;
}
