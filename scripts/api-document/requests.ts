import { MAX_PATH_CHARS, TURN_ID } from '@patchbay/protocol';
import type { Operation } from './describe.js';
import { pathParameters } from './links.js';

/** As much of JSON Schema as is looked at here. */
export interface Schema {
  type?: string | string[];
  properties?: { [name: string]: Schema };
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  additionalProperties?: boolean | Schema;
  default?: unknown;
  [keyword: string]: unknown;
}

const uuid = { type: 'string', format: 'uuid' };

/** Path parameters that several routes have. Any other is described by `@ApiParam` on its handler. */
const PATH_PARAMETERS: { [name: string]: { schema: Schema; description: string } } = {
  workspaceId: { schema: uuid, description: 'One of the workspaces that the caller is a member of.' },
  userId: { schema: uuid, description: 'A member of the workspace.' },
  sessionId: { schema: uuid, description: 'One of the sessions of the workspace.' },
  fileId: { schema: uuid, description: 'A Cloud file, deleted ones included.' },
  versionId: { schema: uuid, description: 'A version of the file.' },
  batchId: { schema: uuid, description: 'A patch batch.' },
  changeId: { schema: uuid, description: 'A change of a patch batch.' },
  turnId: { schema: { type: 'string', pattern: TURN_ID.source }, description: 'A turn of the session.' },
  toolCallId: {
    schema: { type: 'string', minLength: 1, maxLength: 256 },
    description: 'The id that the model gave to a call of the turn.',
  },
  sha256: {
    schema: { type: 'string', pattern: '^[0-9a-fA-F]{64}$' },
    description: 'SHA-256 of the bytes, as 64 hex digits.',
  },
  path: {
    schema: { type: 'string', minLength: 1, maxLength: MAX_PATH_CHARS },
    description: 'Cloud path or docPath. Slashes need no escaping.',
  },
  docPath: {
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    description: "The docPath of a folder's root.",
  },
};

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
}

/** The parameters of the path in its order, then those of the query as they were declared. */
export function parametersOf(operation: Operation, path: string): NonNullable<Operation['parameters']> {
  const declared = (operation.parameters ?? []) as Parameter[];
  const queries = declared.filter((parameter) => parameter.in !== 'path');
  for (const parameter of queries) {
    parameter.schema = whole(parameter.schema);
    if ('default' in parameter.schema) parameter.required = false;
  }
  const paths = pathParameters(path).map((name) => {
    const { schema, description } = PATH_PARAMETERS[name] ?? declared.find((one) => one.name === name) ?? {};
    if (!schema || !description) throw new Error(`${path}: describe {${name}} with @ApiParam`);
    return { name, in: 'path', required: true, schema, description };
  });
  return [...paths, ...queries] as NonNullable<Operation['parameters']>;
}

/** The schema of a DTO as the server reads it: no other keys, whole numbers, and null is the same as absent. */
export function asRead(schema: Schema): Schema {
  const { properties = {}, required = [] } = schema;
  const needed = required.filter((name) => properties[name]?.default === undefined);
  const read = Object.entries(properties).map(([name, property]) => {
    const one = whole(property);
    return [name, needed.includes(name) ? one : orNull(one)] as const;
  });
  const { required: _, ...rest } = schema;
  return {
    ...rest,
    properties: Object.fromEntries(read),
    ...(needed.length > 0 && { required: needed }),
    additionalProperties: false,
  };
}

/** There is no number in a request of ours that is not whole. */
function whole(schema: Schema): Schema {
  return schema.type === 'number' ? { ...schema, type: 'integer' } : schema;
}

/** The schema, or null. */
export function orNull(schema: Schema): Schema {
  if (schema.$ref !== undefined) return { anyOf: [schema, { type: 'null' }] };
  if (schema.allOf !== undefined) {
    const { allOf, ...rest } = schema;
    return { ...rest, anyOf: [...(allOf as Schema[]), { type: 'null' }] };
  }
  const types = [schema.type ?? []].flat();
  if (types.length === 0) return schema;
  return {
    ...schema,
    type: [...new Set([...types, 'null'])],
    ...(schema.enum && { enum: [...schema.enum, null] }),
  };
}
