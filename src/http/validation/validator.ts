import type { Type } from '@nestjs/common';
import {
  getMetadataStorage,
  type MetadataStorage,
  type ValidationArguments,
  ValidationTypes,
} from 'class-validator';

/** What the decorators of class-validator say of a class, compiled. */
export interface Validator {
  /** The fields that the class constrains. */
  readonly fields: ReadonlySet<string>;
  /** True: `validateSync` finds no fault. False: it must be asked, and alone knows the words of a refusal. */
  readonly accepts: (instance: object) => boolean;
}

type Metadata = ReturnType<MetadataStorage['getTargetValidationMetadatas']>[number];
type Check = (instance: object, value: unknown) => boolean;

const VALIDATORS = new WeakMap<Type<object>, Validator>();

/** The validator of a class. Its decorators are read at the first call: class-validator searches them each time. */
export function validatorOf(type: Type<object>): Validator {
  let validator = VALIDATORS.get(type);
  if (!validator) {
    validator = compiled(type);
    VALIDATORS.set(type, validator);
  }
  return validator;
}

function compiled(type: Type<object>): Validator {
  const storage = getMetadataStorage();
  const metadata = storage.getTargetValidationMetadatas(type, '', false, false);
  const fields = Object.entries(storage.groupByPropertyName(metadata));
  const checks = fields.map(([field, ofField]) => fieldCheck(type, field, ofField));
  return {
    fields: new Set(fields.map(([field]) => field)),
    // Where a class constrains nothing, class-validator refuses everything.
    accepts: (instance) => checks.length > 0 && all(checks, instance, undefined),
  };
}

/** A field is sound where one of its conditions frees it, or every constraint holds. */
function fieldCheck(type: Type<object>, field: string, metadata: readonly Metadata[]): Check {
  const isCondition = (one: Metadata) => one.type === ValidationTypes.CONDITIONAL_VALIDATION;
  const conditions = metadata.filter(isCondition).map((one) => one.constraints[0] as Check);
  const checks = metadata.filter((one) => !isCondition(one)).flatMap((one) => constraintChecks(type, one));
  return (instance) => {
    const value = (instance as Record<string, unknown>)[field];
    return !all(conditions, instance, value) || all(checks, instance, value);
  };
}

function constraintChecks(type: Type<object>, metadata: Metadata): Check[] {
  const { constraintCls, constraints, propertyName: property, each, validateIf } = metadata;
  const implementations = getMetadataStorage().getTargetValidatorConstraints(constraintCls);
  const isPlain =
    metadata.type === ValidationTypes.CUSTOM_VALIDATION || metadata.type === ValidationTypes.IS_DEFINED;
  // Nested objects, promises and whatever is yet to come: class-validator judges them itself.
  if (!isPlain || implementations.some(({ async }) => async)) return [() => false];

  return implementations.map(({ instance: constraint }) => (object, value) => {
    if (validateIf && !validateIf(object, value)) return true;
    const told: ValidationArguments = { targetName: type.name, property, object, value, constraints };
    // A promise is no yes.
    return each && isCollection(value)
      ? [...value.values()].every((item) => constraint.validate(item, told) === true)
      : constraint.validate(value, told) === true;
  });
}

function isCollection(value: unknown): value is { values(): Iterable<unknown> } {
  return Array.isArray(value) || value instanceof Set || value instanceof Map;
}

/** A loop, as `every` would make a function for each field of each request. */
function all(checks: readonly Check[], instance: object, value: unknown): boolean {
  for (const check of checks) if (!check(instance, value)) return false;
  return true;
}
