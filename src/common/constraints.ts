import { getMetadataStorage, type ValidationArguments, ValidationTypes } from 'class-validator';
import type { DtoClass } from './request.decorators.js';

type Fields = Record<string, unknown>;

/** One constraint of a property, as class-validator keeps it. */
type Constraint = (value: unknown, object: Fields) => boolean;

interface Property {
  name: string;
  /** Conditions such as `@IsOptional()`: if one fails, the property is not checked. */
  conditions: ((object: Fields, value: unknown) => boolean)[];
  constraints: Constraint[];
}

/**
 * Compiles the constraints of a DTO class into one function that says whether an instance meets all of them.
 * class-validator would collect and sort them again for each instance; it is asked only to describe faults.
 */
export function compileConstraints(dto: DtoClass): (instance: object) => boolean {
  const storage = getMetadataStorage();
  const properties = new Map<string, Property>();
  for (const metadata of storage.getTargetValidationMetadatas(dto, '', false, false)) {
    const { propertyName: name, type, constraints, constraintCls, each } = metadata;
    const property = properties.get(name) ?? { name, conditions: [], constraints: [] };
    properties.set(name, property);
    if (type === ValidationTypes.CONDITIONAL_VALIDATION)
      property.conditions.push(constraints[0] as Property['conditions'][number]);
    else if (type === ValidationTypes.NESTED_VALIDATION)
      throw new Error(`${dto.name}.${name}: use @Nested()`);
    else if (constraintCls !== undefined) {
      for (const { instance } of storage.getTargetValidatorConstraints(constraintCls)) {
        const meets = (value: unknown, object: Fields): boolean => {
          const args: ValidationArguments = {
            value,
            object,
            constraints,
            property: name,
            targetName: dto.name,
          };
          return instance.validate(value, args) as boolean;
        };
        property.constraints.push(
          each
            ? (value, object) =>
                Array.isArray(value) ? value.every((item) => meets(item, object)) : meets(value, object)
            : meets,
        );
      }
    }
  }
  const all = [...properties.values()];
  return (instance) => all.every((property) => isMet(property, instance as Fields));
}

function isMet({ name, conditions, constraints }: Property, object: Fields): boolean {
  const value = object[name];
  if (conditions.some((condition) => !condition(object, value))) return true;
  return constraints.every((constraint) => constraint(value, object));
}
