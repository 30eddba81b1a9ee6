import type { SqlConsole } from '../world/sql-console.js';

/** Runs a manipulation as the owner of the tables, and restores the log and its seals afterwards. */
export async function tampered<T>(sql: SqlConsole, statements: string, check: () => Promise<T>): Promise<T> {
  await sql.run(
    'CREATE TABLE kept_entries AS TABLE audit_entries; CREATE TABLE kept_seals AS TABLE audit_seals',
  );
  try {
    await asOwner(sql, statements);
    return await check();
  } finally {
    await asOwner(
      sql,
      `DELETE FROM audit_entries; INSERT INTO audit_entries TABLE kept_entries; DROP TABLE kept_entries;
       DELETE FROM audit_seals; INSERT INTO audit_seals TABLE kept_seals; DROP TABLE kept_seals`,
    );
  }
}

async function asOwner(sql: SqlConsole, statements: string): Promise<void> {
  await sql.run(
    `ALTER TABLE audit_entries DISABLE TRIGGER USER; ALTER TABLE audit_seals DISABLE TRIGGER USER;
     ${statements};
     ALTER TABLE audit_entries ENABLE TRIGGER USER; ALTER TABLE audit_seals ENABLE TRIGGER USER`,
  );
}
