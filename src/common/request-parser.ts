import { repeatedNames, shortText } from '@patchbay/protocol';
import {
  ARRAY_MAX_SIZE,
  getMetadataStorage,
  IS_ARRAY,
  MAX_LENGTH,
  type ValidationError,
  validateSync,
} from 'class-validator';
import { type FieldFaults, REPEATED, throwIfAny } from './domain-error.js';
import { compileConstraints } from './constraints.js';
import { yieldIfBusy } from './yield-if-busy.js';
import { type DtoClass, type PropertyRule, propertyRules } from './request.decorators.js';

const MAX_FAULTS = 20;
const MAX_NAME = 64;
/** Number of list items that are built in one step. */
const ITEMS_PER_STEP = 8;
/** Undeclared properties are refused here; class-validator would reject a DTO without properties as unknown. */
const VALIDATION = { validationError: { target: false }, forbidUnknownValues: false };

/** The properties of a DTO class and how each is built; computed once per class. */
interface Shape {
  properties: ReadonlySet<string>;
  /** The maximum length of each property that declares one. */
  longest: ReadonlyMap<string, number>;
  rules: ReadonlyMap<string, PropertyRule>;
  /** Whether an instance meets all constraints. */
  isValid: (instance: object) => boolean;
}

/** Work in steps; the caller may yield between them. */
type Steps<T> = Generator<undefined, T, undefined>;

const shapes = new WeakMap<DtoClass, Shape>();

/**
 * Builds an instance of a DTO, or throws VALIDATION_ERROR with every fault by path. Only declared properties are
 * inspected: `@Opaque()` values pass by reference, unknown properties are refused, null means absent. Relay events
 * and handshakes use it too.
 */
export function parseRequest<T extends object>(dto: new () => T, value: unknown): T {
  const request = steps(dto, value);
  for (;;) {
    const { done, value: parsed } = request.next();
    if (done) return parsed;
  }
}

/** Same as `parseRequest` in time slices, for requests with long lists. */
export async function parseRequestInSlices<T extends object>(dto: new () => T, value: unknown): Promise<T> {
  const request = steps(dto, value);
  for (;;) {
    const { done, value: parsed } = request.next();
    if (done) return parsed;
    await yieldIfBusy();
  }
}

function* steps<T extends object>(dto: new () => T, value: unknown): Steps<T> {
  const faults = new Faults();
  const instance = yield* build(dto, value ?? {}, '', faults);
  faults.throwIfAny();
  return instance as T;
}

/** Whether a class is a request DTO. */
export function isRequestDto(type: unknown): type is DtoClass {
  return typeof type === 'function' && shapeOf(type as DtoClass).properties.size > 0;
}

/** Builds a DTO instance in steps. */
function* build(dto: DtoClass, value: unknown, path: string, faults: Faults): Steps<object | undefined> {
  if (!isRecord(value)) {
    faults.add(path, 'must be an object');
    return undefined;
  }
  const shape = shapeOf(dto);
  for (const key of Object.keys(value)) {
    if (!shape.properties.has(key)) faults.add(join(path, key), 'is not a known property');
    if (faults.hasMore) break;
  }
  for (const key of repeatedNames(value)) faults.add(join(path, key), REPEATED);
  const instance = new dto() as Record<string, unknown>;
  for (const property of shape.properties) {
    if (!Object.hasOwn(value, property)) continue;
    const rule = shape.rules.get(property);
    const raw = value[property];
    if (rule?.kind === 'opaque' || (raw !== null && raw !== undefined)) {
      instance[property] = rule
        ? yield* apply(rule, raw, join(path, property), faults)
        : bounded(raw, shape.longest.get(property));
    }
  }
  if (!shape.isValid(instance)) {
    for (const error of validateSync(instance, VALIDATION))
      faults.add(join(path, error.property), messageOf(error));
  }
  return instance;
}

/**
 * Truncates an overlong list or text to what its refusal needs, since class-validator inspects all of it first. A
 * character of a text may have three units.
 */
function bounded(raw: unknown, longest = Infinity): unknown {
  if (Array.isArray(raw)) return raw.length > longest ? raw.slice(0, longest + 1) : raw;
  const units = 3 * (longest + 1);
  return typeof raw === 'string' && raw.length > units ? raw.slice(0, units) : raw;
}

function* apply(rule: PropertyRule, raw: unknown, path: string, faults: Faults): Steps<unknown> {
  switch (rule.kind) {
    case 'opaque':
      return raw;
    case 'convert':
      return rule.convert(raw);
    case 'read':
      return rule.read(raw, (below, message) => faults.add(`${path}${below}`, message));
    case 'nested':
      // A value that cannot be built stays raw, so that it is not also reported as missing.
      return (yield* build(rule.type(), raw, path, faults)) ?? raw;
    case 'list':
      return yield* list(rule, raw, path, faults);
  }
}

function* list(
  rule: PropertyRule & { kind: 'list' },
  raw: unknown,
  path: string,
  faults: Faults,
): Steps<unknown> {
  if (!Array.isArray(raw)) {
    faults.add(path, 'must be an array');
    return raw;
  }
  if (raw.length > rule.maxItems) {
    faults.add(path, `must have at most ${rule.maxItems} items`);
    return raw as unknown;
  }
  const dto = rule.type();
  const items: unknown[] = [];
  for (const [index, item] of raw.entries()) {
    if (index % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
    items.push(faults.hasMore ? item : yield* build(dto, item, `${path}[${index}]`, faults));
  }
  return items;
}

function messageOf(error: ValidationError): string {
  if (error.value === undefined) return 'is required';
  const constraints = Object.entries(error.constraints ?? {});
  const ofList = error.constraints?.[IS_ARRAY] ?? error.constraints?.[ARRAY_MAX_SIZE];
  // "must be a string" is more helpful than "must be at most 256 characters" for a number.
  const [, message] = constraints.find(([name]) => name.startsWith('is')) ?? constraints[0] ?? [];
  return (ofList ?? message ?? 'is not valid').replace(`${error.property} `, '');
}

function shapeOf(dto: DtoClass): Shape {
  let shape = shapes.get(dto);
  if (shape === undefined) {
    const validated = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
    const rules = propertyRules(dto);
    shape = {
      properties: new Set([...validated.map((metadata) => metadata.propertyName), ...rules.keys()]),
      longest: new Map(
        validated.flatMap(({ name, propertyName, constraints }) =>
          name === ARRAY_MAX_SIZE || name === MAX_LENGTH
            ? [[propertyName, (constraints as [number])[0]]]
            : [],
        ),
      ),
      rules,
      isValid: compileConstraints(dto),
    };
    shapes.set(dto, shape);
  }
  return shape;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function join(path: string, property: string): string {
  const name = shortText(property, MAX_NAME);
  return path === '' ? name : `${path}.${name}`;
}

/** The first twenty faults of a request, by path. */
class Faults {
  // Without a prototype, so that `__proto__` is an ordinary key.
  private readonly byPath = Object.create(null) as FieldFaults;
  private count = 0;
  /** There was at least one more fault than are listed. */
  private more = false;

  get full(): boolean {
    return this.count >= MAX_FAULTS;
  }

  get hasMore(): boolean {
    return this.more;
  }

  add(path: string, message: string): void {
    const name = path === '' ? 'body' : path;
    if (name in this.byPath) return;
    if (this.full) {
      this.more = true;
      return;
    }
    this.byPath[name] = message;
    this.count += 1;
  }

  throwIfAny(): void {
    throwIfAny(this.byPath, this.more);
  }
}
