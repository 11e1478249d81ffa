import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import {
  Allow,
  IsDefined,
  Matches,
  type ValidationArguments,
  type ValidationOptions,
  registerDecorator,
} from 'class-validator';

export type DtoClass = new () => object;

/** Turns a plain value into the DTO's; reports each fault by its relative path, such as `[0].name`. */
export type Reader = (value: unknown, fault: (path: string, message: string) => void) => unknown;

/** How a property is built from the plain value, before class-validator checks it. */
export type PropertyRule =
  | { kind: 'nested'; type: () => DtoClass }
  | { kind: 'list'; type: () => DtoClass; maxItems: number }
  | { kind: 'opaque' }
  | { kind: 'read'; read: Reader }
  | { kind: 'convert'; convert: (value: unknown) => unknown };

const rules = new WeakMap<object, Map<string, PropertyRule>>();

/** The rules of a DTO class, including inherited ones. */
export function propertyRules(dto: DtoClass): Map<string, PropertyRule> {
  const found = new Map<string, PropertyRule>();
  for (
    let proto: object | null = dto.prototype as object;
    proto !== null;
    proto = Object.getPrototypeOf(proto) as object | null
  ) {
    for (const [name, rule] of rules.get(proto) ?? []) if (!found.has(name)) found.set(name, rule);
  }
  return found;
}

/** The property is an object of this DTO class. Add `@IsOptional()` where it may be absent. */
export function Nested(type: () => DtoClass): PropertyDecorator {
  return withRule({ kind: 'nested', type }, IsDefined());
}

/** The property is an array of objects of this DTO class. Add `@IsOptional()` where it may be absent. */
export function NestedList(type: () => DtoClass, maxItems: number): PropertyDecorator {
  const decorators = applyDecorators(IsDefined(), ApiProperty({ maxItems }));
  return withRule({ kind: 'list', type, maxItems }, decorators);
}

/** The property is passed on by reference, including null; absent stays absent. */
export function Opaque(): PropertyDecorator {
  return withRule({ kind: 'opaque' }, Allow());
}

/** The property is read by `read`, for forms that no class can describe. Its faults are reported like any others. */
export function ReadBy(read: Reader): PropertyDecorator {
  return withRule({ kind: 'read', read }, IsDefined());
}

/** An integer in a query string; other text is left for `@IsInt` to report. */
export function FromIntegerText(): PropertyDecorator {
  return withRule(
    {
      kind: 'convert',
      convert: (value) => (typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value),
    },
    ApiProperty({ type: 'integer' }),
  );
}

/** Lowercase text, like our ids; other values are left unchanged. */
export function Lowercase(): PropertyDecorator {
  return withRule({
    kind: 'convert',
    convert: (value) => (typeof value === 'string' ? value.toLowerCase() : value),
  });
}

/** `true` or `false` in a query string; other text is left for `@IsBoolean` to report. */
export function FromBooleanText(): PropertyDecorator {
  return withRule(
    {
      kind: 'convert',
      convert: (value) => (value === 'true' ? true : value === 'false' ? false : value),
    },
    ApiProperty({ type: 'boolean' }),
  );
}

/** A string that matches the pattern. The OpenAPI document contains it too, so it must work without flags. */
export function Fits(pattern: RegExp, message: string): PropertyDecorator {
  return applyDecorators(Matches(pattern, { message }), ApiProperty({ pattern: pattern.source }));
}

/** The pattern of a line in the OpenAPI document: at least one visible character, no control characters. */
const LINE_PATTERN = '^[^\\u0000-\\u001f\\u007f]*[^\\s\\u0000-\\u001f\\u007f][^\\u0000-\\u001f\\u007f]*$';
const EMPTY_OR_LINE_PATTERN = '^[^\\u0000-\\u001f\\u007f]*$';

/** The OpenAPI schema of `IsLine(min, max)`. */
export function lineSchema(min: number, max: number) {
  return {
    type: 'string' as const,
    minLength: min,
    maxLength: max,
    pattern: min > 0 ? LINE_PATTERN : EMPTY_OR_LINE_PATTERN,
  };
}

/** A well-formed string of `min` to `max` characters without control characters. */
export function IsLine(min: number, max: number, options?: ValidationOptions): PropertyDecorator {
  return (target, property) => {
    if (!options?.each) ApiProperty(lineSchema(min, max))(target, property);
    registerDecorator({
      name: 'isLine',
      target: target.constructor,
      propertyName: String(property),
      constraints: [min, max],
      ...(options && { options }),
      validator: {
        validate: (value: unknown) => lineFault(value, min, max) === null,
        defaultMessage: (args?: ValidationArguments) => lineFault(args?.value, min, max) ?? '',
      },
    });
  };
}

/** A string without lone surrogates, which UTF-8 cannot encode. */
export function IsWellFormed(options?: ValidationOptions): PropertyDecorator {
  return (target, property) =>
    registerDecorator({
      name: 'isWellFormed',
      target: target.constructor,
      propertyName: String(property),
      ...(options && { options }),
      validator: {
        validate: (value: unknown) => typeof value === 'string' && value.isWellFormed(),
        defaultMessage: (args?: ValidationArguments) =>
          typeof args?.value === 'string' ? 'has a lone surrogate' : 'must be a string',
      },
    });
}

function lineFault(value: unknown, min: number, max: number): string | null {
  if (typeof value !== 'string') return 'must be a string';
  // A character has at most two units, so a string beyond twice the maximum needs no exact count.
  const length = value.length > 2 * max ? value.length : [...value].length;
  if (length < min || length > max) return `must have ${min} to ${max} characters`;
  if (!value.isWellFormed()) return 'has a lone surrogate';
  // eslint-disable-next-line no-control-regex -- control characters are exactly what is refused
  if (/[\u0000-\u001f\u007f]/.test(value)) return 'must not have control characters';
  return value.trim() === '' && min > 0 ? 'must not be blank' : null;
}

function withRule(rule: PropertyRule, decorator?: PropertyDecorator): PropertyDecorator {
  return (target, property) => {
    const own = rules.get(target) ?? new Map<string, PropertyRule>();
    rules.set(target, own.set(String(property), rule));
    decorator?.(target, property);
  };
}
