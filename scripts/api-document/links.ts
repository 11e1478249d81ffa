import { ROUTE_EXTENSION } from '../../src/common/route.js';
import type { Operation } from './describe.js';

interface Described {
  path: string;
  operation: Operation;
}

/** Of a turn with open calls. */
const OPEN = 202;
const FIRST_FAILURE = 300;

/** Adds to each answer its links, each with the path parameters that both routes have. */
export function addLinks(operations: readonly Described[]): void {
  const pathById = new Map(operations.map(({ path, operation }) => [operation.operationId!, path]));
  for (const { path, operation } of operations) {
    const { links = {}, openLinks = {} } = operation[ROUTE_EXTENSION] ?? {};
    for (const [status, answer] of Object.entries(operation.responses)) {
      if (Number(status) >= FIRST_FAILURE) continue;
      const entries = Object.entries({ ...links, ...(Number(status) === OPEN && openLinks) });
      if (entries.length === 0) continue;
      const described = entries.map(([id, values]) => [id, linkTo(id, values, path, pathById)] as const);
      Object.assign(answer!, { links: Object.fromEntries(described) });
    }
  }
}

function linkTo(
  operationId: string,
  values: { [parameter: string]: string },
  from: string,
  pathById: ReadonlyMap<string, string>,
): object {
  const target = pathById.get(operationId);
  if (target === undefined) throw new Error(`${from} links to ${operationId}, which is not an operation`);
  const needed = pathParameters(target);
  if (needed.length === 0) return { operationId, requestBody: values };
  const own = new Set(pathParameters(from));
  const shared = needed.filter((name) => own.has(name) && !(name in values));
  const parameters = Object.fromEntries(shared.map((name) => [name, `$request.path.${name}`]));
  return { operationId, parameters: { ...parameters, ...values } };
}

/** The names of the parameters in a path, in its order. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
}
