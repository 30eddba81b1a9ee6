/** Maximum number of calls in flight: of an instance to a provider, or of all instances about the status of a batch. */
export const CALLS_AT_ONCE = 8;
/**
 * How many of these calls of an instance to a provider are only for grants, so that cancels that it does not answer do not
 * delay grants until their time-out.
 */
export const CALLS_FOR_GRANTS = 2;
/** Number of unanswered calls in a row after which a provider counts as down: twice its calls in flight. */
export const UNANSWERED_LIMIT = 2 * CALLS_AT_ONCE;
