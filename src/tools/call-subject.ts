import type { Json } from '@patchbay/protocol';
import { pathFields } from '../common/audit-path.js';
import type { CallSubject } from '../storage/ports/turn.js';
import type { ToolDefinition } from './tool.js';

/**
 * What the audit events of a call record about its arguments: places, never contents. The arguments may break the
 * schema; null: unknown tool.
 */
export function subjectOf(tool: ToolDefinition | null, args: Json): CallSubject {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return {};
  if (tool?.subject) return tool.subject(args);
  const path = args.path ?? args.docPath;
  return typeof path === 'string' ? pathFields(path) : {};
}
