import type { Exchange, PlatformClient, Tenant } from './platform-client.js';
import { transcript } from './transcript.js';

export interface RoundOutput {
  /** Takes some lines at a time, without the last line's end. */
  print: (text: string) => void;
  colours: boolean;
}

/** What an answer must be: its status, and some of its fields. */
export interface Expectation {
  status: number;
  fields: object;
  /** Of the header `X-Error-Code`. */
  code?: string;
}

/** Sends what is played, shows it, and stops the play where an answer surprises. */
export class Table {
  constructor(
    private readonly platform: PlatformClient,
    private readonly output: RoundOutput,
  ) {}

  /** @throws Error with a sentence where the answer is not what is expected */
  play(
    tenant: Tenant,
    { title, path, body }: { title: string; path: string; body: object },
    expected: Expectation,
  ): Promise<Exchange> {
    return this.show(title, this.platform.signed(tenant, path, body), expected);
  }

  /** Configures a counterpart. @throws Error with a sentence where the answer is no 200 */
  configure(title: string, method: string, path: string, body: object): Promise<Exchange> {
    return this.show(title, this.platform.plain(method, path, body), { status: 200, fields: {} });
  }

  /** As an administrator. @throws Error with a sentence where the answer is not what is expected */
  read(adminApiKey: string, title: string, path: string, expected: Expectation): Promise<Exchange> {
    return this.show(title, this.platform.asAdmin(adminApiKey, 'GET', path), expected);
  }

  private async show(title: string, sent: Promise<Exchange>, expected: Expectation): Promise<Exchange> {
    const exchange = await sent.catch((cause: unknown) => {
      const sentence = `Nothing answers at ${this.platform.apiUrl}: start the service with npm start.`;
      throw new Error(sentence, { cause });
    });
    this.output.print(transcript(title, exchange, this.output.colours));
    const asExpected = Object.entries(expected.fields).every(
      ([name, value]) => JSON.stringify(exchange.json[name]) === JSON.stringify(value),
    );
    const code = exchange.headers.get('X-Error-Code');
    const isCode = expected.code === undefined || expected.code === code;
    if (exchange.status === expected.status && asExpected && isCode) return exchange;
    throw new Error(
      `"${title}" should have been answered ${expected.status} ${expected.code ?? ''} with ` +
        `${JSON.stringify(expected.fields)}, but it was ${exchange.status} ${code ?? ''} ${exchange.text}`,
    );
  }
}
