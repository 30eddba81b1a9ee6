import { disableFreshClaims } from '../world/fresh-claims.js';
import { declareAgain } from './suites.js';

// Every transaction is loaded, decided and claimed by the slow path. Processes that the tests start keep the shortcut.
disableFreshClaims();
declareAgain('killed');
