/** What the operator's base address ends with where calls are never answered. */
export const HANGING_PATH = '/hanging';
