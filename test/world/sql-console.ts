import pg from 'pg';

/** A connection to the database beside the application. */
export class SqlConsole {
  private constructor(private readonly pool: pg.Pool) {}

  static open(url: string): SqlConsole {
    const pool = new pg.Pool({ connectionString: url, max: 4 });
    // The database is dropped while it is connected when a world stops.
    pool.on('error', () => undefined);
    return new SqlConsole(pool);
  }

  async run<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.pool.query<Row>(text, [...values])).rows;
  }

  async close(): Promise<void> {
    await this.pool.end();
  }
}
