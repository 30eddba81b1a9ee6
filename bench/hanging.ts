/** The end of an operator's base address at which calls are never answered. */
export const HANGING_PATH = '/hanging';
