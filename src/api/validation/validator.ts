import type { Type } from '@nestjs/common';
import {
  getMetadataStorage,
  type MetadataStorage,
  type ValidationArguments,
  ValidationTypes,
} from 'class-validator';

/** The constraints of a class, compiled from its class-validator decorators. */
interface Validator {
  readonly fields: ReadonlySet<string>;
  /**
   * If true, `validateSync` would report no error. If false, call `validateSync`, which decides and provides the
   * message.
   */
  readonly accepts: (instance: object) => boolean;
}

type Metadata = ReturnType<MetadataStorage['getTargetValidationMetadatas']>[number];
type Check = (instance: object, value: unknown) => boolean;

const VALIDATORS = new WeakMap<Type<object>, Validator>();

/**
 * The validator of a class, compiled on first use, because class-validator searches all metadata on each validation.
 */
export function validatorOf(type: Type<object>): Validator {
  let validator = VALIDATORS.get(type);
  if (!validator) {
    validator = compile(type);
    VALIDATORS.set(type, validator);
  }
  return validator;
}

function compile(type: Type<object>): Validator {
  const storage = getMetadataStorage();
  const metadata = storage.getTargetValidationMetadatas(type, '', false, false);
  const fields = Object.entries(storage.groupByPropertyName(metadata));
  const checks = fields.map(([field, ofField]) => fieldCheck(type, field, ofField));
  return {
    fields: new Set(fields.map(([field]) => field)),
    // class-validator refuses every instance of a class without constraints.
    accepts: (instance) => checks.length > 0 && all(checks, instance, undefined),
  };
}

/** A field is accepted if all its constraints hold, or if a condition for validating it does not hold. */
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
  // Nested objects, promises and unknown kinds of metadata are left to class-validator.
  if (!isPlain || implementations.some(({ async }) => async)) return [() => false];

  return implementations.map(({ instance: constraint }) => (object, value) => {
    if (validateIf && !validateIf(object, value)) return true;
    const args: ValidationArguments = { targetName: type.name, property, object, value, constraints };
    // Compared with `true`, because a promise is truthy.
    return each && isCollection(value)
      ? [...value.values()].every((item) => constraint.validate(item, args) === true)
      : constraint.validate(value, args) === true;
  });
}

function isCollection(value: unknown): value is { values(): Iterable<unknown> } {
  return Array.isArray(value) || value instanceof Set || value instanceof Map;
}

/** A loop instead of `every`, which would allocate a closure for each field of each request. */
function all(checks: readonly Check[], instance: object, value: unknown): boolean {
  for (const check of checks) if (!check(instance, value)) return false;
  return true;
}
