/**
 * The condition under which a field is required: another field, named by `requiredWhere`, has one of the values in
 * `is`. Otherwise, the field may be null or absent. All conditions of a class name the same field in `requiredWhere`.
 */
export interface RequiredWhere {
  readonly requiredWhere: string;
  readonly is: readonly unknown[];
}

/**
 * OpenAPI extension of a field's schema with the field's condition. `withBodyRules` publishes a class with such fields
 * as a choice of schemas, one for each value of the field that the conditions name.
 */
export const REQUIRED_WHERE = 'x-required-where';

/**
 * OpenAPI extension of a field's schema: what differs in the schema of a value of the deciding field; `false` if the
 * field is always absent there. Such as `{ ADJUSTMENT: false }`.
 */
export const DIFFERS_WHERE = 'x-differs-where';

/**
 * OpenAPI extension of a field's schema: the part of the field's rule that the published pattern cannot express, in
 * words. Published patterns are in the common subset of JavaScript, with and without its flag `u`, and RE2, which has
 * neither look-around nor the properties of Unicode. `withDescriptions` moves the words to the field's description.
 */
export const BEYOND_PATTERN = 'x-beyond-pattern';
