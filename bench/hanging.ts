/** Suffix of the base address of an operator whose calls are never answered. */
export const HANGING_PATH = '/hanging';
