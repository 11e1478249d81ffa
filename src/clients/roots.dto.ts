import {
  type ClientRoot,
  docPathFault,
  foldCase,
  type RootRequest,
  unfoldableFault,
} from '@patchbay/protocol';
import { IsUUID } from 'class-validator';
import { type FieldFaults, throwIfAny } from '../common/domain-error.js';
import { IsLine, Lowercase } from '../common/request.decorators.js';

const MAX_NAME_BYTES = 255;

/** Body of `PUT …/roots/:docPath`. */
export class RootDto implements RootRequest {
  /** One component of a path. */
  @IsLine(1, MAX_NAME_BYTES)
  name!: string;

  @Lowercase()
  @IsUUID()
  rootId!: string;
}

/** A folder as a client announces it. */
export class ClientRootDto extends RootDto implements ClientRoot {
  @IsLine(1, MAX_NAME_BYTES)
  docPath!: string;
}

/** VALIDATION_ERROR if a folder's name is no path component, does not match its docPath, or is a duplicate. */
export function checkRoots(roots: readonly ClientRoot[]): void {
  const fields: FieldFaults = {};
  const seen = new Set<string>();
  roots.forEach(({ name, docPath }, at) => {
    const fault = nameFault(name);
    if (fault !== null) fields[`roots[${at}].name`] = fault;
    else if (docPath !== foldCase(name))
      fields[`roots[${at}].docPath`] = `must be that of name: "${foldCase(name)}"`;
    else if (seen.has(docPath))
      fields[`roots[${at}].docPath`] = 'is used twice; each folder needs a name of its own';
    seen.add(docPath);
  });
  throwIfAny(fields);
}

/** Why a text is not a valid folder name; null if it is. */
export function nameFault(name: string): string | null {
  if (/[/\\]/.test(name)) return 'must be one component of a path, without a slash';
  const unfoldable = unfoldableFault(name);
  if (unfoldable !== null) return unfoldable;
  const folded = foldCase(name);
  if (Math.max(Buffer.byteLength(name), Buffer.byteLength(folded)) > MAX_NAME_BYTES)
    return `must have at most ${MAX_NAME_BYTES} bytes`;
  return docPathFault(folded);
}
