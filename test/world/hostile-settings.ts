import { runAt } from './database.js';

/** Settings on which a statement's meaning depends, with values under which the service would not work. */
export const HOSTILE_SETTINGS: Readonly<Record<string, string>> = {
  DateStyle: 'German',
  IntervalStyle: 'iso_8601',
  TimeZone: 'Pacific/Kiritimati',
  client_encoding: 'LATIN1',
  standard_conforming_strings: 'off',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  array_nulls: 'off',
  default_transaction_isolation: 'serializable',
  default_transaction_read_only: 'on',
  default_transaction_deferrable: 'on',
  synchronous_commit: 'off',
  exit_on_error: 'on',
  search_path: 'nowhere',
};

/** Time-outs that would end every statement, transaction or connection. */
export const HOSTILE_TIMEOUTS: Readonly<Record<string, string>> = {
  statement_timeout: '1ms',
  lock_timeout: '1ms',
  idle_in_transaction_session_timeout: '1ms',
  idle_session_timeout: '1ms',
  // Long enough for the statement that switches it off.
  transaction_timeout: '200ms',
};

/** Settings that change the meaning of statements which the service does not use. */
export const IRRELEVANT_SETTINGS: Readonly<Record<string, string>> = {
  backslash_quote: 'off',
  check_function_bodies: 'off',
  default_text_search_config: 'pg_catalog.german',
  default_toast_compression: 'pglz',
  escape_string_warning: 'off',
  gin_fuzzy_search_limit: '1',
  lc_monetary: 'C',
  lc_numeric: 'C',
  lc_time: 'C',
  quote_all_identifiers: 'on',
  row_security: 'off',
  timezone_abbreviations: 'India',
  transform_null_equals: 'on',
  xmlbinary: 'hex',
  xmloption: 'document',
};

/**
 * Changes settings for new connections; those that the server's version does not know are left out.
 * @param target such as `DATABASE croupier`, or `ROLE CURRENT_USER IN DATABASE croupier`
 */
export async function alter(
  url: string,
  target: string,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const rows = await runAt<{ name: string }>(url, 'SELECT lower(name) AS name FROM pg_settings');
  const known = new Set(rows.map(({ name }) => name));
  for (const [name, value] of Object.entries(settings)) {
    if (known.has(name.toLowerCase())) await runAt(url, `ALTER ${target} SET ${name} = '${value}'`);
  }
}
