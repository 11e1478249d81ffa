import { getMetadataStorage, type ValidationArguments, ValidationTypes } from 'class-validator';
import type { DtoClass } from './request.decorators.js';

type Metadata = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];
type Check = (instance: Record<string, unknown>) => boolean;

/** The class-validator rules of a DTO class, inherited ones included. */
export function rulesOf(dto: DtoClass): Metadata[] {
  return getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
}

/**
 * Whether an instance keeps the rules of its class. class-validator looks the rules of all classes through and builds an
 * error for every property of every object; this does so once, and leaves only what is faulty to it.
 */
export function compileCheck(rules: readonly Metadata[]): Check {
  const properties = new Map<string, Metadata[]>();
  for (const rule of rules)
    properties.set(rule.propertyName, [...(properties.get(rule.propertyName) ?? []), rule]);
  const checks = [...properties.values()].map(propertyCheck);
  return (instance) => checks.every((check) => check(instance));
}

function propertyCheck(rules: readonly Metadata[]): Check {
  const { propertyName } = rules[0]!;
  const conditions = rules.filter(({ type }) => type === ValidationTypes.CONDITIONAL_VALIDATION);
  const checks = rules.flatMap(ruleChecks);
  return (instance) => {
    const applies = conditions.every(({ constraints: [holds] }) =>
      (holds as (object: object, value: unknown) => boolean)(instance, instance[propertyName]),
    );
    return !applies || checks.every((check) => check(instance));
  };
}

function ruleChecks({ constraintCls, propertyName: property, constraints, each, target }: Metadata): Check[] {
  const targetName = typeof target === 'string' ? target : target.name;
  return getMetadataStorage()
    .getTargetValidatorConstraints(constraintCls)
    .map(({ instance: validator }) => (object) => {
      const value = object[property];
      const args: ValidationArguments = { targetName, property, object, value, constraints };
      const isValid = (item: unknown): boolean => validator.validate(item, args) === true;
      return each && Array.isArray(value) ? value.every(isValid) : isValid(value);
    });
}
