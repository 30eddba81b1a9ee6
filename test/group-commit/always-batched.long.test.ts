import { useGroupCommit } from '../world/group-commit.js';
import { declareAgain } from './suites.js';

// A batch of one goes by the plain statement: here even that one goes by the statement for many.
useGroupCommit('always');
declareAgain('killed');
