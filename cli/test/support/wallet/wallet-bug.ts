import type { ServerFault } from '../broken-server.js';
import type { Change } from './reference-wallet.js';

/** A mistake of an operator's wallet, and the cases that find it. */
export interface WalletBug {
  /** What the wallet does wrong: "keeps balances as floating-point numbers". */
  bug: string;
  /** The steps of the correct wallet that it replaces. A new object for each wallet, because it may have a state. */
  change?: () => Change;
  /** A mistake of its HTTP server or of its verification of signatures. */
  fault?: ServerFault;
  /** Cases that fail at this wallet. Others may fail, too. */
  failsCases: readonly string[];
  /** More options for the command. */
  options?: readonly string[];
}
